"""The flags of `attncalc open`."""

from typing import Annotated

import typer

from attncalc.cli.flags.calculate import Blank, Only, Work
from attncalc.cli.flags.shared import OUTPUT, Format, Full, Out, Standalone

HELP = """Open a model's folder, and show every number of one of its layers.

[bold]Examples[/bold]

    attncalc open gpt2 --tokens "15496, 995" --layer 0
    attncalc open gpt2 --text "The cat" --layer 11 --only "A,Y"
    attncalc open gpt2 --tokens "15496, 995" --layer 0 --head 3
    attncalc open gpt2 --text "The cat"       the most probable next tokens
    attncalc open bert --tokens "7, 3, 0" --ignore "0 0 1" --layer 2
    attncalc open vit --image x.npy --layer 0
    attncalc open bart --tokens "0, 4, 2" --decoder-tokens "2, 0" --layer 0
    attncalc open gpt2 --tokens "15496, 995" --layer 0 -o map.svg
    attncalc open gpt2 --tokens "15496, 995" --layer 0 -o layer.npz
                                              the layer as a problem

FOLDER holds config.json and model.safetensors, or shards with an index.
GPT-2, Llama, Mistral, Qwen2, Qwen3, Gemma 2, BERT, ViT, BART, mBART, Whisper
and T5 are known. Only the layers up to the one asked for are read. What
layer.npz holds is a problem to change and to hand out.
"""
INPUT = "What the model reads"
WHICH = "What is shown"


def open_model(
    context: typer.Context,
    folder: Annotated[
        str,
        typer.Argument(metavar="FOLDER", help="A folder with config.json and model.safetensors."),
    ],
    tokens: Annotated[
        str | None,
        typer.Option(
            "--tokens", metavar="IDS", help='Token ids, as "3, 7".', rich_help_panel=INPUT
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(
            "--text",
            metavar="TEXT",
            help="A text, by the folder's tokenizer.json (attncalc\\[models]).",
            rich_help_panel=INPUT,
        ),
    ] = None,
    image: Annotated[
        str | None,
        typer.Option(
            "--image",
            metavar="MATRIX",
            help="An image as .npy: channels, rows and columns.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    spectrogram: Annotated[
        str | None,
        typer.Option(
            "--spectrogram",
            metavar="MATRIX",
            help="A spectrogram as .npy: bands and frames.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    decoder_tokens: Annotated[
        str | None,
        typer.Option(
            "--decoder-tokens",
            metavar="IDS",
            help="What a decoder behind an encoder reads: its layers are shown then.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    type_ids: Annotated[
        str | None,
        typer.Option(
            "--type-ids",
            metavar="IDS",
            help='The type of each token, from 0, as "0 0 1" (BERT).',
            rich_help_panel=INPUT,
        ),
    ] = None,
    ignore: Annotated[
        str | None,
        typer.Option(
            "--ignore",
            metavar="MATRIX",
            help="Padding mask, in all layers: 1 where a token is padding.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    decoder_ignore: Annotated[
        str | None,
        typer.Option(
            "--decoder-ignore",
            metavar="MATRIX",
            help="The same of the decoder's tokens.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    layer: Annotated[
        int | None,
        typer.Option(
            "--layer",
            metavar="NUMBER",
            help="The layer that is shown, from 0, as the files count.",
            rich_help_panel=WHICH,
        ),
    ] = None,
    head: Annotated[
        int | None,
        typer.Option(
            "--head",
            metavar="NUMBER",
            help="This head alone, from 1, as pages count.",
            rich_help_panel=WHICH,
        ),
    ] = None,
    at: Annotated[
        int | None,
        typer.Option(
            "--at",
            metavar="NUMBER",
            help="What is probable at this token, from 1: the last, or the masked.",
            rich_help_panel=WHICH,
        ),
    ] = None,
    only: Only = None,
    work: Work = False,
    blank: Blank = False,
    full: Full = False,
    decimals: Annotated[
        int | None,
        typer.Option(
            "--decimals",
            "-d",
            metavar="VALUE",
            help="Decimals shown, 0 to 12.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option("--title", metavar="TEXT", help="The heading.", rich_help_panel=OUTPUT),
    ] = None,
    format: Format = None,  # noqa: A002 - the flag is --format
    standalone: Standalone = False,
    out: Out = None,
) -> None:
    """Open a model."""
    from attncalc.cli.commands.open import open_model

    open_model(context.params)
