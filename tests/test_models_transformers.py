"""Models against the transformers package, in float64: every layer's steps, and the logits.

The package turns to float32 within itself (in its RMS norms, its softmax, its rotary angles): for
the time of a test float32 is patched to mean float64, so that nothing is lost.
"""

import importlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensor_files import save_tensors

from attncalc import InputError, Problem, count, generate, layers, open_model, solve, trace
from attncalc.reading.models.described import drafted
from attncalc.reading.models.families import FAMILIES
from attncalc.reading.models.folder import Config, find_weights
from attncalc.reading.models.opening import Model
from attncalc.reading.models.rope import a_base
from attncalc.solving.stack import through

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
torch = pytest.importorskip("torch")
# their tables of types are made before `in_float64` changes them
pytest.importorskip("torch._numpy")
safetensors = pytest.importorskip("safetensors")
pytest.importorskip("safetensors.torch")
pytest.importorskip("safetensors.numpy")
transformers = pytest.importorskip("transformers")
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

FLOAT32 = torch.float32
NEAR = 1e-10
IDS = [3, 7, 5, 40, 8, 8, 2, 11]
SMALL: dict[str, Any] = {
    "vocab_size": 50,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
}
GROUPED = SMALL | {"num_key_value_heads": 2}
OF_IMAGES = {k: v for k, v in SMALL.items() if k not in ("vocab_size", "max_position_embeddings")}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
    "rope_theta": 500.0,
}
GPT2 = {"vocab_size": 50, "n_positions": 32, "n_embd": 16, "n_layer": 3, "n_head": 4}
XLM = {"vocab_size": 50, "emb_dim": 16, "n_layers": 3, "n_heads": 4, "pad_token_id": 4}
YARN = {
    "rope_type": "yarn",
    "rope_theta": 100.0,
    "factor": 4.0,
    "original_max_position_embeddings": 16,
    "beta_fast": 2.0,
}
DYNAMIC = {"rope_type": "dynamic", "rope_theta": 100.0, "factor": 2.0}
LONGROPE = {
    "pad_token_id": 0,
    "original_max_position_embeddings": 16,
    "rope_parameters": {
        "rope_type": "longrope",
        "rope_theta": 100.0,
        "short_factor": [1.0, 1.5],
        "long_factor": [2.0, 3.0],
    },
}
EXPERTS = GROUPED | {
    "num_local_experts": 4,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 7,
    "pad_token_id": 0,
    "eos_token_id": 1,
}
LATENT = SMALL | {
    "num_key_value_heads": 4,
    "q_lora_rank": 6,
    "kv_lora_rank": 8,
    "qk_rope_head_dim": 4,
    "qk_nope_head_dim": 6,
    "v_head_dim": 3,
    "moe_intermediate_size": 7,
    "n_routed_experts": 8,
    "num_experts_per_tok": 3,
    "n_shared_experts": 2,
    "first_k_dense_replace": 1,
    "n_group": 4,
    "topk_group": 2,
}
OF_GROUPS = GROUPED | {
    "head_dim": 8,
    "moe_intermediate_size": 7,
    "n_routed_experts": 8,
    "num_experts_per_tok": 3,
    "n_shared_experts": 1,
    "first_k_dense_replace": 1,
    "n_group": 4,
    "topk_group": 2,
}
FALCON = {
    "vocab_size": 50,
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "ffn_hidden_size": 24,
}
ROUTED = {"num_experts": 4, "num_experts_per_tok": 2}
IN_TURN = {
    "sliding_window": 3,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
}
LLAMA4 = GROUPED | {
    "head_dim": 4,
    "num_local_experts": 4,
    "num_experts_per_tok": 1,
    "intermediate_size": 7,
    "intermediate_size_mlp": 24,
    "interleave_moe_layer_step": 2,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
DBRX = {
    "vocab_size": 50,
    "d_model": 16,
    "n_heads": 4,
    "n_layers": 3,
    "max_seq_len": 64,
    "attn_config": {"kv_n_heads": 2, "rope_theta": 1e4, "clip_qkv": 8.0},
    "ffn_config": {"hidden_size": 16, "ffn_hidden_size": 7, "moe_num_experts": 4, "moe_top_k": 2},
}
OF_AXES = GROUPED | {
    "hidden_size": 32,
    "rope_parameters": {
        "rope_type": "default",
        "rope_theta": 1e4,
        "mrope_section": [1, 1, 0],
        "partial_rotary_factor": 0.5,
    },
}
BIASES = ("attention_bias", "mlp_bias")
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    # (the class of its config, that of the model, what the config says)
    "GPT-2": ("GPT2Config", "GPT2LMHeadModel", GPT2),
    "GPT-2 scaled by layers": (
        "GPT2Config",
        "GPT2LMHeadModel",
        GPT2 | {"scale_attn_by_inverse_layer_idx": True},
    ),
    "CTRL": ("CTRLConfig", "CTRLLMHeadModel", GPT2 | {"dff": 24}),
    "CTRL of classes": (
        "CTRLConfig",
        "CTRLForSequenceClassification",
        GPT2 | {"dff": 24, "num_labels": 3, "pad_token_id": 0},
    ),
    "BERT generation": ("BertGenerationConfig", "BertGenerationEncoder", SMALL),
    "BERT generation of words": (
        "BertGenerationConfig",
        "BertGenerationDecoder",
        SMALL | {"is_decoder": True},
    ),
    "I-BERT": ("IBertConfig", "IBertForMaskedLM", SMALL),
    "LayoutLM": (
        "LayoutLMConfig",
        "LayoutLMForMaskedLM",
        SMALL | {"max_2d_position_embeddings": 9},
    ),
    "FLAVA text": ("FlavaTextConfig", "FlavaTextModel", SMALL),
    "ESM C": ("EsmcConfig", "EsmcForMaskedLM", SMALL),
    "ESM C of classes": ("EsmcConfig", "EsmcForSequenceClassification", SMALL | {"num_labels": 3}),
    "ESM C of tokens": ("EsmcConfig", "EsmcForTokenClassification", SMALL | {"num_labels": 3}),
    "ESM C with biases": ("EsmcConfig", "EsmcModel", SMALL | dict.fromkeys(BIASES, True)),
    "GPT-NeoX Japanese": (
        "GPTNeoXJapaneseConfig",
        "GPTNeoXJapaneseForCausalLM",
        SMALL | {"intermediate_multiple_size": 2},
    ),
    "Cohere Compass": (
        "CohereCompassTextConfig",
        "CohereCompassForCausalLM",
        GROUPED
        | {"sliding_window": 3, "logit_scale": 0.3, "pad_token_id": 0, "eos_token_id": 1}
        | {"layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}
        | {
            "rope_parameters": {
                "sliding_attention": {"rope_type": "default", "rope_theta": 100.0},
                "full_attention": None,
            }
        },
    ),
    "Mistral 4": (
        "Mistral4Config",
        "Mistral4ForCausalLM",
        LATENT
        | {"n_group": 1, "topk_group": 1, "pad_token_id": 0}
        | {
            "rope_parameters": YARN
            | {"llama_4_scaling_beta": 0.3, "original_max_position_embeddings": 2}
            | {"mscale": 0.7, "mscale_all_dim": 1.3, "partial_rotary_factor": 0.4}
        },
    ),
    "MiMo-V2-Flash": (
        "MiMoV2FlashConfig",
        "MiMoV2FlashForCausalLM",
        OF_GROUPS
        | IN_TURN
        | {"head_dim": 12, "v_head_dim": 6, "num_key_value_heads": 2, "attention_bias": True},
    ),
    "GPT-2 not scaled": ("GPT2Config", "GPT2LMHeadModel", GPT2 | {"scale_attn_weights": False}),
    "Llama": ("LlamaConfig", "LlamaForCausalLM", GROUPED),
    "Llama 3": ("LlamaConfig", "LlamaForCausalLM", GROUPED | {"rope_parameters": LLAMA3}),
    "Llama, linear, tied, biased": (
        "LlamaConfig",
        "LlamaForCausalLM",
        GROUPED
        | {
            "rope_parameters": {"rope_type": "linear", "factor": 4.0, "rope_theta": 10000.0},
            "tie_word_embeddings": True,
            "attention_bias": True,
            "mlp_bias": True,
        },
    ),
    "Mistral": ("MistralConfig", "MistralForCausalLM", GROUPED | {"sliding_window": 3}),
    "Mistral, whatever the kinds of its layers": (
        "MistralConfig",
        "MistralForCausalLM",
        GROUPED | IN_TURN | {"use_sliding_window": False},
    ),
    "Qwen2": ("Qwen2Config", "Qwen2ForCausalLM", GROUPED),
    "Qwen2 with windows": (
        "Qwen2Config",
        "Qwen2ForCausalLM",
        GROUPED | {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1},
    ),
    "Qwen3": ("Qwen3Config", "Qwen3ForCausalLM", GROUPED | {"head_dim": 8}),
    "Gemma 2": (
        "Gemma2Config",
        "Gemma2ForCausalLM",
        GROUPED | {"head_dim": 8, "sliding_window": 4, "query_pre_attn_scalar": 6},
    ),
    "Gemma": ("GemmaConfig", "GemmaForCausalLM", GROUPED | {"head_dim": 8}),
    "OPT-350m": (
        "OPTConfig",
        "OPTForCausalLM",
        SMALL | {"ffn_dim": 24, "word_embed_proj_dim": 12, "do_layer_norm_before": False},
    ),
    "OPT without biases": (
        "OPTConfig",
        "OPTForCausalLM",
        SMALL | {"ffn_dim": 24, "word_embed_proj_dim": 16, "enable_bias": False},
    ),
    "GPT-BigCode with all key heads": (
        "GPTBigCodeConfig",
        "GPTBigCodeForCausalLM",
        GPT2 | {"multi_query": False},
    ),
    "Gemma 3": (
        "Gemma3TextConfig",
        "Gemma3ForCausalLM",
        GROUPED
        | {
            "head_dim": 8,
            "sliding_window": 4,
            "query_pre_attn_scalar": 6,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
        },
    ),
    "SmolLM3": (
        "SmolLM3Config",
        "SmolLM3ForCausalLM",
        GROUPED | {"no_rope_layers": [1, 0, 1], "pad_token_id": 0},
    ),
    "Phi-3": ("Phi3Config", "Phi3ForCausalLM", GROUPED | {"pad_token_id": 0}),
    "Phi-4 mini": (
        "Phi3Config",
        "Phi3ForCausalLM",
        GROUPED | {"pad_token_id": 0, "partial_rotary_factor": 0.5, "sliding_window": 3},
    ),
    "Granite": (
        "GraniteConfig",
        "GraniteForCausalLM",
        GROUPED | {"embedding_multiplier": 3.0, "attention_multiplier": 0.2, "logits_scaling": 4.0},
    ),
    "StableLM": (
        "StableLmConfig",
        "StableLmForCausalLM",
        GROUPED | {"use_qkv_bias": True, "partial_rotary_factor": 0.5},
    ),
    "StableLM, normalized": (
        "StableLmConfig",
        "StableLmForCausalLM",
        GROUPED | {"qk_layernorm": True, "partial_rotary_factor": 0.5},
    ),
    "OLMo, clipped": ("OlmoConfig", "OlmoForCausalLM", GROUPED | {"clip_qkv": 0.5}),
    "OLMo, clipped and biased": (
        "OlmoConfig",
        "OlmoForCausalLM",
        GROUPED | {"clip_qkv": 0.5, "attention_bias": True},
    ),
    "MPT, clipped": (
        "MptConfig",
        "MptForCausalLM",
        {"vocab_size": 50, "d_model": 24, "n_layers": 3, "n_heads": 6, "max_seq_len": 32}
        | {"expansion_ratio": 2, "attn_config": {"clip_qkv": 0.5, "softmax_scale": 0.3}},
    ),
    "StarCoder2": (
        "Starcoder2Config",
        "Starcoder2ForCausalLM",
        GROUPED | {"sliding_window": 3, "embedding_dropout": 0.0},
    ),
    "GLM": ("GlmConfig", "GlmForCausalLM", GROUPED | {"head_dim": 4, "pad_token_id": 0}),
    "GLM-4": ("Glm4Config", "Glm4ForCausalLM", GROUPED | {"head_dim": 4, "pad_token_id": 0}),
    "ERNIE 4.5": ("Ernie4_5Config", "Ernie4_5ForCausalLM", GROUPED | {"head_dim": 4}),
    "OLMo": ("OlmoConfig", "OlmoForCausalLM", GROUPED),
    "OLMo 2": ("Olmo2Config", "Olmo2ForCausalLM", GROUPED),
    "OLMo 3": (
        "Olmo3Config",
        "Olmo3ForCausalLM",
        GROUPED
        | {
            "sliding_window": 3,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
        },
    ),
    "EXAONE 4": (
        "Exaone4Config",
        "Exaone4ForCausalLM",
        GROUPED
        | {
            "sliding_window": 3,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
        },
    ),
    "EXAONE 4 without windows": (
        "Exaone4Config",
        "Exaone4ForCausalLM",
        GROUPED | {"sliding_window": None, "layer_types": ["full_attention"] * 3},
    ),
    "Nemotron": ("NemotronConfig", "NemotronForCausalLM", GROUPED | {"head_dim": 4}),
    "Bloom": (
        "BloomConfig",
        "BloomForCausalLM",
        {"vocab_size": 50, "hidden_size": 24, "n_layer": 3, "n_head": 6},
    ),
    "MPT": (
        "MptConfig",
        "MptForCausalLM",
        {"vocab_size": 50, "d_model": 24, "n_layers": 3, "n_heads": 6, "max_seq_len": 32},
    ),
    "Granite with small parts": (
        "GraniteConfig",
        "GraniteForCausalLM",
        GROUPED | {"residual_multiplier": 0.22},
    ),
    "Llama by yarn": (
        "LlamaConfig",
        "LlamaForCausalLM",
        GROUPED | {"head_dim": 12, "rope_parameters": YARN},
    ),
    "Llama by yarn with scales": (
        "LlamaConfig",
        "LlamaForCausalLM",
        GROUPED
        | {
            "head_dim": 12,
            "rope_parameters": YARN | {"mscale": 0.7, "mscale_all_dim": 1.3, "truncate": False},
        },
    ),
    "Llama, dynamic": (
        "LlamaConfig",
        "LlamaForCausalLM",
        GROUPED | {"max_position_embeddings": 5, "rope_parameters": DYNAMIC},
    ),
    "Llama, dynamic, short": (
        "LlamaConfig",
        "LlamaForCausalLM",
        GROUPED | {"rope_parameters": DYNAMIC},
    ),
    "Phi-3 by longrope, long": (
        "Phi3Config",
        "Phi3ForCausalLM",
        GROUPED | LONGROPE | {"original_max_position_embeddings": 4},
    ),
    "Phi-3 by longrope, short": ("Phi3Config", "Phi3ForCausalLM", GROUPED | LONGROPE),
    "GPT-OSS by yarn": (
        "GptOssConfig",
        "GptOssForCausalLM",
        EXPERTS | {"head_dim": 8, "layer_types": ["full_attention"] * 3},
    ),
    "Ministral 3": (
        "Ministral3Config",
        "Ministral3ForCausalLM",
        GROUPED
        | {"head_dim": 8, "sliding_window": 3}
        | {
            "rope_parameters": YARN
            | {"llama_4_scaling_beta": 0.3, "original_max_position_embeddings": 2}
        },
    ),
    "Seed-OSS": (
        "SeedOssConfig",
        "SeedOssForCausalLM",
        GROUPED | {"head_dim": 8, "attention_out_bias": True, "mlp_bias": True},
    ),
    "Arcee": ("ArceeConfig", "ArceeForCausalLM", GROUPED | {"mlp_bias": True}),
    "Helium": (
        "HeliumConfig",
        "HeliumForCausalLM",
        GROUPED | {"head_dim": 4, "attention_bias": True, "mlp_bias": True},
    ),
    "CWM": (
        "CwmConfig",
        "CwmForCausalLM",
        GROUPED | {"head_dim": 8, "sliding_window": 3, "mlp_bias": True, "attention_bias": True},
    ),
    "VaultGemma": (
        "VaultGemmaConfig",
        "VaultGemmaForCausalLM",
        GROUPED | {"head_dim": 8, "sliding_window": 3, "query_pre_attn_scalar": 6},
    ),
    "GLM-4 MoE": (
        "Glm4MoeConfig",
        "Glm4MoeForCausalLM",
        OF_GROUPS | {"use_qk_norm": True, "attention_bias": True},
    ),
    "dots.llm1": (
        "Dots1Config",
        "Dots1ForCausalLM",
        OF_GROUPS | {"sliding_window": 3, "max_window_layers": 1},
    ),
    "MiniMax-M2": ("MiniMaxM2Config", "MiniMaxM2ForCausalLM", EXPERTS | {"head_dim": 8}),
    "DeepSeek-V3": ("DeepseekV3Config", "DeepseekV3ForCausalLM", LATENT),
    "DeepSeek-V3 by yarn": (
        "DeepseekV3Config",
        "DeepseekV3ForCausalLM",
        LATENT
        | {
            "q_lora_rank": None,
            "attention_bias": True,
            "rope_interleave": False,
            "rope_parameters": YARN | {"mscale": 0.7, "mscale_all_dim": 1.3},
        },
    ),
    "DeepSeek-V2": ("DeepseekV2Config", "DeepseekV2ForCausalLM", LATENT | {"n_group": None}),
    "DeepSeek-V2 by groups": (
        "DeepseekV2Config",
        "DeepseekV2ForCausalLM",
        LATENT | {"topk_method": "group_limited_greedy", "routed_scaling_factor": 3.0},
    ),
    "Mixtral": ("MixtralConfig", "MixtralForCausalLM", GROUPED | {"num_local_experts": 4}),
    "Qwen2-MoE": (
        "Qwen2MoeConfig",
        "Qwen2MoeForCausalLM",
        EXPERTS | {"shared_expert_intermediate_size": 9, "num_experts": 4},
    ),
    "Qwen3-MoE": (
        "Qwen3MoeConfig",
        "Qwen3MoeForCausalLM",
        EXPERTS | {"head_dim": 8, "norm_topk_prob": True, "mlp_only_layers": [1]},
    ),
    "Qwen3-VL without the windows of its config": (
        "Qwen3VLTextConfig",
        "Qwen3VLTextModel",
        GROUPED | IN_TURN | {"head_dim": 8},
    ),
    "Qwen3-VL-MoE without the windows of its config": (
        "Qwen3VLMoeTextConfig",
        "Qwen3VLMoeTextModel",
        EXPERTS | {"head_dim": 8, "sliding_window": 3},
    ),
    "Apertus": ("ApertusConfig", "ApertusForCausalLM", GROUPED),
    "NanoChat": ("NanoChatConfig", "NanoChatForCausalLM", GROUPED),
    "DiffLlama": (
        "DiffLlamaConfig",
        "DiffLlamaForCausalLM",
        SMALL | {"num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 4},
    ),
    "PhiMoE": (
        "PhimoeConfig",
        "PhimoeForCausalLM",
        GROUPED
        | {"num_local_experts": 4}
        | {
            "attention_bias": True,
            "lm_head_bias": True,
            "router_jitter_noise": 0.4,
            "sliding_window": 3,
        },
    ),
    "AFMoE": (
        "AfmoeConfig",
        "AfmoeForCausalLM",
        GROUPED
        | ROUTED
        | IN_TURN
        | {"head_dim": 8, "moe_intermediate_size": 7, "mup_enabled": True, "route_scale": 2.0},
    ),
    "Aria": (
        "AriaTextConfig",
        "AriaTextForCausalLM",
        GROUPED | {"moe_num_experts": 4, "moe_topk": 2, "head_dim": 4, "pad_token_id": 0},
    ),
    "XGLM": (
        "XGLMConfig",
        "XGLMForCausalLM",
        {"vocab_size": 50, "d_model": 16, "ffn_dim": 24, "num_layers": 3, "attention_heads": 4}
        | {"max_position_embeddings": 32},
    ),
    "Nomic BERT": ("NomicBertConfig", "NomicBertForMaskedLM", SMALL),
    "Jina v3": ("JinaEmbeddingsV3Config", "JinaEmbeddingsV3ForMaskedLM", SMALL),
    "Jina v3, pooled": ("JinaEmbeddingsV3Config", "JinaEmbeddingsV3Model", SMALL),
    "BERT with a key of ViT": ("BertConfig", "BertModel", SMALL | {"pooler_act": "relu"}),
    "GTE": ("GteConfig", "GteForMaskedLM", SMALL),
    "GTE of classes": ("GteConfig", "GteForSequenceClassification", SMALL),
    "BitNet": ("BitNetConfig", "BitNetForCausalLM", GROUPED),
    "Flint": (
        "FlintConfig",
        "FlintForCausalLM",
        GROUPED
        | ROUTED
        | IN_TURN
        | {"head_dim": 8, "moe_intermediate_size": 7, "shared_expert_intermediate_size": 9}
        | {"mlp_only_layers": [0]},
    ),
    "HunYuan 3": (
        "HYV3Config",
        "HYV3ForCausalLM",
        GROUPED | ROUTED | {"head_dim": 8, "moe_intermediate_size": 7},
    ),
    "Sarvam MoE": ("SarvamMoEConfig", "Glm4MoeForCausalLM", OF_GROUPS),
    "MiniCPM3": (
        "MiniCPM3Config",
        "MiniCPM3ForCausalLM",
        dict(list(LATENT.items())[:12]) | {"dim_model_base": 4, "scale_emb": 3},
    ),
    "MiniCPM3, biased": (
        "MiniCPM3Config",
        "MiniCPM3ForCausalLM",
        dict(list(LATENT.items())[:12])
        | {"dim_model_base": 4, "scale_emb": 3, "attention_bias": True},
    ),
    "Granite with windows": (
        "GraniteSWAConfig",
        "GraniteSWAForCausalLM",
        GROUPED | IN_TURN | {"layer_rope_theta": [1e4, 0, 50.0]},
    ),
    "Granite MoE with windows": (
        "GraniteMoeSWAConfig",
        "GraniteMoeSWAForCausalLM",
        EXPERTS | IN_TURN | {"shared_intermediate_size": 9},
    ),
    "EuroBERT": (
        "EuroBertConfig",
        "EuroBertForMaskedLM",
        GROUPED | {"mlp_bias": True, "pad_token_id": 0},
    ),
    "EuroBERT of classes": (
        "EuroBertConfig",
        "EuroBertForSequenceClassification",
        GROUPED | {"classifier_pooling": "mean", "num_labels": 3, "pad_token_id": 0},
    ),
    "InternLM3": ("InternLM3Config", "LlamaForCausalLM", GROUPED | {"head_dim": 4}),
    "Jais 2": ("Jais2Config", "Jais2ForCausalLM", GROUPED | {"head_dim": 4}),
    "Solar Open": (
        "SolarOpenConfig",
        "SolarOpenForCausalLM",
        {k: v for k, v in OF_GROUPS.items() if k != "first_k_dense_replace"},
    ),
    "FlexOlmo": ("FlexOlmoConfig", "FlexOlmoForCausalLM", GROUPED | ROUTED | {"pad_token_id": 0}),
    "Youtu": ("YoutuConfig", "YoutuForCausalLM", dict(list(LATENT.items())[:12])),
    "GLM-4 MoE Lite": ("Glm4MoeLiteConfig", "Glm4MoeLiteForCausalLM", LATENT),
    "Sarvam": ("SarvamMLAConfig", "DeepseekV3ForCausalLM", LATENT),
    "EXAONE": ("ExaoneConfig", "LlamaForCausalLM", GROUPED | {"head_dim": 4}),
    "EXAONE MoE": (
        "ExaoneMoeConfig",
        "ExaoneMoeForCausalLM",
        GROUPED | ROUTED | IN_TURN | {"moe_intermediate_size": 7, "num_shared_experts": 2},
    ),
    "Mellum": (
        "MellumConfig",
        "MellumForCausalLM",
        GROUPED
        | ROUTED
        | IN_TURN
        | {"moe_intermediate_size": 7, "head_dim": 8}
        | {"mlp_layer_types": ["dense", "sparse", "sparse"]},
    ),
    "Persimmon": ("PersimmonConfig", "PersimmonForCausalLM", SMALL),
    "HyperCLOVA X": (
        "HyperCLOVAXConfig",
        "HyperCLOVAXForCausalLM",
        GROUPED
        | {"head_dim": 4, "residual_multiplier": 0.3, "logits_scaling": 2.0}
        | {"embedding_multiplier": 2.0, "attention_multiplier": 0.3},
    ),
    "HyperCLOVA X, normalized before parts alone": (
        "HyperCLOVAXConfig",
        "HyperCLOVAXForCausalLM",
        GROUPED | {"head_dim": 4, "use_post_norm": False},
    ),
    "GPT": ("OpenAIGPTConfig", "OpenAIGPTLMHeadModel", GPT2),
    "BioGPT": ("BioGptConfig", "BioGptForCausalLM", SMALL),
    "data2vec": ("Data2VecTextConfig", "Data2VecTextModel", SMALL),
    "ERNIE": ("ErnieConfig", "ErnieModel", SMALL),
    "Megatron-BERT": ("MegatronBertConfig", "MegatronBertForMaskedLM", SMALL),
    "XLM-R XL": ("XLMRobertaXLConfig", "XLMRobertaXLForMaskedLM", SMALL),
    "RoBERTa, pre-norm": (
        "RobertaPreLayerNormConfig",
        "RobertaPreLayerNormForSequenceClassification",
        SMALL | {"num_labels": 3},
    ),
    "HunYuan": ("HunYuanDenseV1Config", "HunYuanDenseV1ForCausalLM", GROUPED | {"head_dim": 8}),
    "HunYuan with one key head": (
        "HunYuanDenseV1Config",
        "HunYuanDenseV1ForCausalLM",
        GROUPED | {"head_dim": 8, "num_key_value_heads": 1},
    ),
    "HunYuan with a stretched base": (
        "HunYuanDenseV1Config",
        "HunYuanDenseV1ForCausalLM",
        GROUPED
        | {"head_dim": 8, "attention_bias": True}
        | {"rope_parameters": DYNAMIC | {"alpha": 50.0}},
    ),
    "HunYuan MoE": (
        "HunYuanMoEV1Config",
        "HunYuanMoEV1ForCausalLM",
        GROUPED | {"head_dim": 8, "num_experts": 4, "moe_topk": 2},
    ),
    "ERNIE 4.5 MoE": (
        "Ernie4_5_MoeConfig",
        "Ernie4_5_MoeForCausalLM",
        GROUPED
        | {"moe_num_experts": 4, "moe_k": 2, "moe_intermediate_size": 7}
        | {"moe_layer_start_index": 1, "moe_num_shared_experts": 2},
    ),
    "OLMoE": ("OlmoeConfig", "OlmoeForCausalLM", EXPERTS),
    "OLMoE, clipped": ("OlmoeConfig", "OlmoeForCausalLM", EXPERTS | {"clip_qkv": 0.5}),
    "GPT-OSS": (
        "GptOssConfig",
        "GptOssForCausalLM",
        EXPERTS
        | {
            "head_dim": 8,
            "sliding_window": 3,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
            "rope_parameters": {"rope_type": "default", "rope_theta": 100.0},
        },
    ),
    "Llama 4": (
        "Llama4TextConfig",
        "Llama4ForCausalLM",
        LLAMA4 | {"attention_chunk_size": 3, "floor_scale": 2, "num_hidden_layers": 4},
    ),
    "Llama 4 without normalized queries": (
        "Llama4TextConfig",
        "Llama4ForCausalLM",
        LLAMA4
        | {
            "use_qk_norm": False,
            "attn_temperature_tuning": False,
            "attention_bias": True,
            "num_experts_per_tok": 2,
            "no_rope_layers": [0, 1, 1],
            "attention_chunk_size": None,
            "rope_parameters": LLAMA3,
        },
    ),
    "Llama 4, in other chunks": (
        "Llama4TextConfig",
        "Llama4ForCausalLM",
        LLAMA4
        | {
            "no_rope_layers": [1, 0, 0],
            "layer_types": ["full_attention", "chunked_attention", "full_attention"],
            "attention_chunk_size": 3,
            "floor_scale": 2,
        },
    ),
    "Granite MoE": (
        "GraniteMoeConfig",
        "GraniteMoeForCausalLM",
        EXPERTS | {"residual_multiplier": 0.5},
    ),
    "Granite MoE with a shared expert": (
        "GraniteMoeSharedConfig",
        "GraniteMoeSharedForCausalLM",
        EXPERTS | {"shared_intermediate_size": 9},
    ),
    "GPT-NeoX": ("GPTNeoXConfig", "GPTNeoXForCausalLM", SMALL | {"rotary_pct": 0.5}),
    "GPT-NeoX in turn": (
        "GPTNeoXConfig",
        "GPTNeoXForCausalLM",
        SMALL
        | {
            "use_parallel_residual": False,
            "attention_bias": False,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 100.0,
                "partial_rotary_factor": 0.5,
            },
        },
    ),
    "GPT-J": ("GPTJConfig", "GPTJForCausalLM", GPT2 | {"rotary_dim": 2}),
    "CodeGen": ("CodeGenConfig", "CodeGenForCausalLM", GPT2 | {"n_head": 8, "rotary_dim": 2}),
    "Falcon": ("FalconConfig", "FalconForCausalLM", FALCON),
    "Falcon 40B": (
        "FalconConfig",
        "FalconForCausalLM",
        FALCON | {"new_decoder_architecture": True, "num_kv_heads": 2},
    ),
    "Falcon 11B": (
        "FalconConfig",
        "FalconForCausalLM",
        FALCON
        | {"new_decoder_architecture": True, "num_kv_heads": 2, "num_ln_in_parallel_attn": 1},
    ),
    "Falcon in turn, all heads, biased": (
        "FalconConfig",
        "FalconForCausalLM",
        FALCON | {"parallel_attn": False, "multi_query": False, "bias": True},
    ),
    "Phi": ("PhiConfig", "PhiForCausalLM", GROUPED),
    "Phi, normalized": (
        "PhiConfig",
        "PhiForCausalLM",
        SMALL | {"qk_layernorm": True, "partial_rotary_factor": 1.0},
    ),
    "StableLM 2 12B": (
        "StableLmConfig",
        "StableLmForCausalLM",
        GROUPED | {"use_parallel_residual": True, "partial_rotary_factor": 0.5},
    ),
    "Cohere": ("CohereConfig", "CohereForCausalLM", GROUPED | {"logit_scale": 0.3}),
    "Cohere, normalized": (
        "CohereConfig",
        "CohereForCausalLM",
        GROUPED | {"use_qk_norm": True, "attention_bias": True},
    ),
    "Cohere 2": (
        "Cohere2Config",
        "Cohere2ForCausalLM",
        GROUPED
        | {
            "sliding_window": 3,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
        },
    ),
    "DistilBERT": (
        "DistilBertConfig",
        "DistilBertForMaskedLM",
        {"vocab_size": 50, "dim": 16, "hidden_dim": 24, "n_layers": 3, "n_heads": 4},
    ),
    "DistilBERT of classes": (
        "DistilBertConfig",
        "DistilBertForSequenceClassification",
        {"vocab_size": 50, "dim": 16, "hidden_dim": 24, "n_layers": 3, "n_heads": 4},
    ),
    "OPT": (
        "OPTConfig",
        "OPTForCausalLM",
        SMALL | {"ffn_dim": 24, "word_embed_proj_dim": 16},
    ),
    "GPT-BigCode": ("GPTBigCodeConfig", "GPTBigCodeForCausalLM", GPT2),
    "GPT-Neo": (
        "GPTNeoConfig",
        "GPTNeoForCausalLM",
        {
            "vocab_size": 50,
            "hidden_size": 16,
            "num_layers": 3,
            "num_heads": 4,
            "window_size": 3,
            "attention_types": [[["global", "local", "global"], 1]],
            "max_position_embeddings": 32,
        },
    ),
    "RoBERTa": ("RobertaConfig", "RobertaModel", SMALL),
    "RoBERTa of masked words": ("RobertaConfig", "RobertaForMaskedLM", SMALL),
    "RoBERTa of classes": (
        "XLMRobertaConfig",
        "XLMRobertaForSequenceClassification",
        SMALL | {"num_labels": 3},
    ),
    "XLM of next words": ("XLMConfig", "XLMWithLMHeadModel", XLM | {"causal": True}),
    "ELECTRA": ("ElectraConfig", "ElectraModel", SMALL | {"embedding_size": 16}),
    "ELECTRA of masked words": (
        "ElectraConfig",
        "ElectraForMaskedLM",
        SMALL | {"embedding_size": 16},
    ),
    "BERT": ("BertConfig", "BertModel", SMALL),
    "RoBERTa with another padding": ("RobertaConfig", "RobertaModel", SMALL | {"pad_token_id": 4}),
    "ALBERT in groups": (
        "AlbertConfig",
        "AlbertModel",
        SMALL | {"embedding_size": 8, "num_hidden_layers": 3, "num_hidden_groups": 2},
    ),
    "ALBERT with two layers in a group": (
        "AlbertConfig",
        "AlbertModel",
        SMALL | {"embedding_size": 8, "num_hidden_groups": 2, "inner_group_num": 2},
    ),
    "ALBERT": ("AlbertConfig", "AlbertModel", SMALL | {"embedding_size": 8}),
    "ALBERT of masked words": (
        "AlbertConfig",
        "AlbertForMaskedLM",
        SMALL | {"embedding_size": 8, "hidden_act": "gelu_new"},
    ),
    "ELECTRA, factorized": (
        "ElectraConfig",
        "ElectraForMaskedLM",
        SMALL | {"embedding_size": 8},
    ),
    "MPNet": ("MPNetConfig", "MPNetModel", SMALL),
    "MPNet of masked words": ("MPNetConfig", "MPNetForMaskedLM", SMALL),
    "BERT of masked words, untied": (
        "BertConfig",
        "BertForMaskedLM",
        SMALL | {"tie_word_embeddings": False},
    ),
    "BERT of masked words": ("BertConfig", "BertForMaskedLM", SMALL | {"hidden_act": "relu"}),
    "DeepSeek-V3.2": (
        "DeepseekV32Config",
        "DeepseekV32ForCausalLM",
        LATENT | {"index_n_heads": 2, "index_head_dim": 8, "index_topk": 8},
    ),
    "DeepSeek-V3.2: GLM-5": (
        "GlmMoeDsaConfig",
        "GlmMoeDsaForCausalLM",
        LATENT | {"index_n_heads": 2, "index_head_dim": 8, "index_topk": 8},
    ),
    "Cohere 2 MoE": (
        "Cohere2MoeConfig",
        "Cohere2MoeForCausalLM",
        EXPERTS
        | {"shared_expert_combination_strategy": "sum", "sliding_window": 3, "head_dim": 8}
        | {"layer_types": ["sliding_attention", "full_attention", "sliding_attention"]},
    ),
    "Cohere 2 MoE, normalized whatever its config says": (
        "Cohere2MoeConfig",
        "Cohere2MoeForCausalLM",
        EXPERTS | {"shared_expert_combination_strategy": "sum", "norm_topk_prob": False},
    ),
    "Cohere 2 MoE, by sigmoids": (
        "Cohere2MoeConfig",
        "Cohere2MoeForCausalLM",
        EXPERTS
        | {"shared_expert_combination_strategy": "sum", "num_shared_experts": 1, "head_dim": 8}
        | {"expert_selection_fn": "sigmoid", "rms_norm_eps": 1e-6, "sliding_window": 3}
        | {"mlp_layer_types": ["dense", "sparse", "sparse"], "prefix_dense_intermediate_size": 20},
    ),
    "Laguna": (
        "LagunaConfig",
        "LagunaForCausalLM",
        EXPERTS
        | {"num_attention_heads_per_layer": [2, 4, 6], "shared_expert_intermediate_size": 6}
        | {"head_dim": 8},
    ),
    "ViT": (
        "ViTConfig",
        "ViTForImageClassification",
        OF_IMAGES | {"image_size": 8, "patch_size": 4, "num_labels": 3},
    ),
}
T5_GEMMA = GROUPED | {"head_dim": 8, "sliding_window": 2, "query_pre_attn_scalar": 6}
BART = {
    "vocab_size": 50,
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 20,
    "max_position_embeddings": 32,
}
T5 = {"vocab_size": 50, "d_model": 16, "d_kv": 5, "d_ff": 24, "num_layers": 3, "num_heads": 4}
WHISPER = BART | {
    "num_mel_bins": 6,
    "max_source_positions": 10,
    "max_target_positions": 12,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 3,
}
PAIRS: dict[str, tuple[str, str, dict[str, Any]]] = {
    # of an encoder and a decoder, as MODELS
    "BART": ("BartConfig", "BartForConditionalGeneration", BART),
    "BART, scaled": (
        "BartConfig",
        "BartForConditionalGeneration",
        BART | {"scale_embedding": True, "activation_function": "relu"},
    ),
    "BART, with a table for each side": (
        "BartConfig",
        "BartForConditionalGeneration",
        BART | {"tie_word_embeddings": False},
    ),
    "mBART": ("MBartConfig", "MBartForConditionalGeneration", BART),
    "Marian": (
        "MarianConfig",
        "MarianMTModel",
        BART | {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0},
    ),
    "Marian with two tables": (
        "MarianConfig",
        "MarianMTModel",
        BART
        | {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
        | {"share_encoder_decoder_embeddings": False, "tie_word_embeddings": False},
    ),
    "Marian with two tables and a tied head": (
        "MarianConfig",
        "MarianMTModel",
        BART
        | {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
        | {"share_encoder_decoder_embeddings": False},
    ),
    "Pegasus": ("PegasusConfig", "PegasusForConditionalGeneration", BART),
    "Blenderbot": ("BlenderbotConfig", "BlenderbotForConditionalGeneration", BART),
    "Blenderbot small": (
        "BlenderbotSmallConfig",
        "BlenderbotSmallForConditionalGeneration",
        BART | {"scale_embedding": True},  # of the encoder alone
    ),
    "FSMT": (
        "FSMTConfig",
        "FSMTForConditionalGeneration",
        {n: each for n, each in BART.items() if n != "vocab_size"}
        | {"src_vocab_size": 50, "tgt_vocab_size": 45, "pad_token_id": 4},
    ),
    "LED": (
        "LEDConfig",
        "LEDForConditionalGeneration",
        BART
        | {"attention_window": [4, 4], "max_encoder_position_embeddings": 64}
        | {"max_decoder_position_embeddings": 64},
    ),
    "Switch": (
        "SwitchTransformersConfig",
        "SwitchTransformersForConditionalGeneration",
        T5
        | {"num_experts": 4, "num_sparse_encoder_layers": 1, "num_sparse_decoder_layers": 1}
        | {"expert_capacity": 8},
    ),
    "Switch with a table for each side": (
        "SwitchTransformersConfig",
        "SwitchTransformersForConditionalGeneration",
        T5
        | {"num_experts": 4, "num_sparse_encoder_layers": 1, "num_sparse_decoder_layers": 1}
        | {"expert_capacity": 8, "tie_word_embeddings": False},
    ),
    "LongT5": ("LongT5Config", "LongT5ForConditionalGeneration", T5 | {"local_radius": 2}),
    "T5Gemma": (
        "T5GemmaConfig",
        "T5GemmaForConditionalGeneration",
        {"encoder": T5_GEMMA, "decoder": T5_GEMMA | {"num_hidden_layers": 2}, "vocab_size": 50},
    ),
    "MVP": ("MvpConfig", "MvpForConditionalGeneration", BART),
    "PLBart": ("PLBartConfig", "PLBartForConditionalGeneration", BART),
    "Pegasus with unshared tables": (
        "PegasusConfig",
        "PegasusForConditionalGeneration",
        BART | {"tie_word_embeddings": False},
    ),
    "Whisper": ("WhisperConfig", "WhisperForConditionalGeneration", WHISPER),
    "T5": ("T5Config", "T5ForConditionalGeneration", T5),
    "T5 of old keys": (
        "T5Config",
        "T5ForConditionalGeneration",
        T5 | {"dense_act_fn": "silu", "is_gated_act": True},
    ),
    "T5, gated, with few buckets": (
        "T5Config",
        "T5ForConditionalGeneration",
        T5
        | {
            "feed_forward_proj": "gated-gelu",
            "relative_attention_num_buckets": 8,
            "relative_attention_max_distance": 6,
            "num_decoder_layers": 2,
            "tie_word_embeddings": False,
        },
    ),
    "M2M-100": (
        "M2M100Config",
        "M2M100ForConditionalGeneration",
        BART | {"scale_embedding": True, "pad_token_id": 4},
    ),
    "UMT5": ("UMT5Config", "UMT5ForConditionalGeneration", T5),
    "mT5": ("MT5Config", "MT5ForConditionalGeneration", T5 | {"tie_word_embeddings": False}),
}
WHERE = {
    # what a step is called in each family's modules
    "Q": ("q_proj", "self.query"),
    "O": (
        *("o_proj", "attn.c_proj", "attention.output.dense", "attn.out_proj"),
        *("attention.dense", "self_attention.dense", "self_attn.dense"),
    ),
    "F_2": (
        *("down_proj", "mlp.c_proj", "mlp.fc2", "mlp.fc_out", "dense_4h_to_h", "output.dense"),
    ),
}


@pytest.fixture(autouse=True)
def in_float64(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Replace float32 by float64 inside the package."""
    monkeypatch.setattr(torch, "float32", torch.float64)
    monkeypatch.setattr(torch, "float", torch.float64)
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(FLOAT32)


def made(name: str, folder: Path, **shards: Any) -> Any:
    """Return a model with parameters spread out, saved in a folder as hubs hand it out."""
    config, kind, said = (MODELS | PAIRS | TOWERS | OF_PATCHES | LOCAL | OF_AUDIO)[name]
    config = getattr(transformers, config)(**said)
    config._attn_implementation = config._experts_implementation = "eager"
    model = spread_out(getattr(transformers, kind)(config))
    model.save_pretrained(folder, **shards)
    return model


def spread_out(model: Any) -> Any:
    """Return a model in float64 with random parameters that are spread out, and gains around 1."""
    model = model.double().eval()
    torch.manual_seed(1)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            is_kept = "embed_positions" in name and not parameter.requires_grad  # not saved
            is_gain = name.endswith("weight") and ("norm" in name.lower() or ".ln_" in name)
            drawn = torch.randn_like(parameter) * 0.4 + float(is_gain)
            parameter.copy_(parameter if is_kept else drawn)
        for name, buffer in model.named_buffers():
            if name.endswith(("correction_bias", "layer_scalar")):
                buffer.copy_(torch.randn_like(buffer))
    return model


def run(model: Any, given: Any) -> tuple[Any, dict[str, Any]]:
    """Return what a model gives, and what its modules gave on the way, by name."""
    seen: dict[str, Any] = {}

    def note(name: str) -> Any:
        # cloned, for some models add to a tensor in place
        return lambda module, read, gave: seen.__setitem__(
            name, gave.clone() if torch.is_tensor(gave) else gave
        )

    hooks = [module.register_forward_hook(note(name)) for name, module in model.named_modules()]
    with torch.no_grad():
        out = model(given, output_hidden_states=True, output_attentions=True)
    for hook in hooks:
        hook.remove()
    return out, seen


def seen_at(seen: dict[str, Any], step: str, layer: int) -> Any:
    """Return what the module of a step gave in a layer; None where it is fused with others."""
    found = [
        gave
        for name, gave in seen.items()
        if f".{layer}." in name
        and name.endswith(WHERE[step])
        and "shared_" not in name
        and torch.is_tensor(gave)
    ]
    return found[-1][0].numpy() if found else None


@pytest.mark.campaign(3)
@pytest.mark.parametrize("name", MODELS)
def test_every_layer_and_the_logits_are_those_of_the_package(name: str, tmp_path: Path) -> None:
    model = made(name, tmp_path)
    opened = Model(tmp_path)
    if opened.family.takes == "image":
        given = torch.randn(1, 3, 8, 8, generator=torch.manual_seed(2))
        tokens = opened.begin_image(given.numpy(), "x.npy")
    else:
        given = torch.tensor([IDS])
        tokens = opened.begin(IDS, "--tokens")
    out, seen = run(model, given)
    for number in range(opened.count):
        fields = opened.layer(number)
        if number == opened.count - 1:
            fields |= opened.end(fields["weights_layout"])
        solution = solve(Problem(**(fields | tokens)))
        # Bloom has 8 digits of the root of 2 / π in its GELU
        near = 1e-6 if name.startswith(("Bloom", "CTRL")) else NEAR  # and CTRL float32 sines
        # the layers of ALBERT are one module, whose last call alone is seen; others add later
        is_other = name.startswith(("ALBERT", "OLMo, clipped", "GPT-NeoX Japanese"))
        of_steps = {} if is_other else seen
        compare_layer(solution, out, of_steps, number, near)
        compare_router(solution, seen, number)
        compare_scores_of_experts(solution, seen, number)
        tokens = {"X": solution["Y"]}
    compare_end(solution, out, near)


def compare_layer(solution: Any, out: Any, seen: dict[str, Any], number: int, near: float) -> None:
    """Compare the weights of a layer, its queries, the outputs of both parts, and its own."""
    weights, expected = solution["A"], out.attentions[number][0].numpy()
    if solution.problem.sinks is not None and np.allclose(expected.sum(-1), 1):
        weights = weights / weights.sum(-1, keepdims=True)  # Granite scales its outputs later
    assert np.abs(weights - expected).max() < near
    of_latents = any(step.name == "K_R" for step in solution.plan)  # Q in another order
    for step in WHERE if not of_latents else ("O", "F_2"):
        expected = seen_at(seen, step, number)
        found = np.hstack(list(solution[step])) if step == "Q" else solution[step]
        if expected is not None:
            assert np.abs(found - expected).max() < near, step
    if number < len(out.attentions) - 1:
        assert np.abs(solution["Y"] - out.hidden_states[number + 1][0].numpy()).max() < near


def compare_router(solution: Any, seen: dict[str, Any], number: int) -> None:
    """Compare the logits of a router, and the shares of the chosen experts."""
    steps = [step.name for step in solution.plan]
    found = [
        gave
        for name, gave in seen.items()
        if f".{number}." in name and name.endswith((".gate", ".router")) and isinstance(gave, tuple)
    ]
    assert len(found) == ("E_logits" in steps)
    for logits, shares, chosen in found if found and len(found[0]) == 3 else ():
        assert np.abs(solution["E_logits"] - logits.numpy()).max() < NEAR
        last = next(n for n in ("E_scaled", "E_share", "E_top", "E_prob") if n in steps)
        expected = torch.zeros_like(logits).scatter_(1, chosen, shares).numpy()
        assert np.abs(solution[last] - expected).max() < NEAR


def compare_scores_of_experts(solution: Any, seen: dict[str, Any], number: int) -> None:
    """Compare the router of Llama 4, which gives shares of all experts, 0 for most."""
    for name, gave in seen.items():
        if name.endswith(f".{number}.feed_forward.router"):
            assert np.abs(solution["E_logits"] - gave[1].numpy()).max() < NEAR
            assert np.abs(solution["E_top"] - gave[0].numpy()).max() < NEAR


def compare_end(solution: Any, out: Any, near: float) -> None:
    """Compare the logits of the last token, or of a model without a head its outputs."""
    steps = [step.name for step in solution.plan]
    if "logits" not in steps:
        assert np.abs(solution["Y"] - out.last_hidden_state[0].numpy()).max() < near
        if "G_pre" in steps:
            assert np.abs(solution["G_pre"] - out.pooler_output.numpy()).max() < near
        return
    found = solution["logits"]
    logits = out.logits[0].numpy()
    if found.shape == logits.shape:  # of masked words all are read
        assert np.abs(found - logits).max() < near
        return
    assert np.abs(found.ravel() - (logits if logits.ndim == 1 else logits[-1])).max() < near


@pytest.mark.campaign(2)
@pytest.mark.parametrize("name", PAIRS)
def test_encoders_and_decoders_are_those_of_the_package(name: str, tmp_path: Path) -> None:
    """Each layer of both, its weights of both attentions, and the logits."""
    model = made(name, tmp_path)
    asked = [3, 9, 1, 30, 30]
    given: dict[str, Any] = {"tokens": IDS}
    read = torch.tensor([IDS])
    if name == "Whisper":
        read = torch.randn(1, 6, 20, generator=torch.manual_seed(2))
        given = {"spectrogram": read.numpy()}
    with torch.no_grad():
        out = model(
            read,
            decoder_input_ids=torch.tensor([asked]),
            output_hidden_states=True,
            output_attentions=True,
            **{"use_cache": False} if name == "FSMT" else {},  # with a cache, it masks nothing
        )
    count = len(out.encoder_attentions)
    for layer in range(count):
        solution = solve(open_model(tmp_path, **given, layer=layer))
        if name not in ("LED", "LongT5"):  # whose weights are those of places in a window
            near(solution["A"], out.encoder_attentions[layer])
        if layer < count - 1:
            near(solution["Y"], out.encoder_hidden_states[layer + 1])
    near(solve(open_model(tmp_path, **given))["Y"], out.encoder_last_hidden_state)
    given["decoder_tokens"] = asked
    count = len(out.decoder_attentions)
    for layer in range(count):
        solution = solve(open_model(tmp_path, **given, layer=layer))
        near(solution["self.A"], out.decoder_attentions[layer])
        near(solution["cross.A"], out.cross_attentions[layer])
        if layer < count - 1:
            near(solution["Y"], out.decoder_hidden_states[layer + 1])
    near(solve(open_model(tmp_path, **given))["logits"], out.logits[:, -1:])


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("CWM", "layer_types"),
        ("EXAONE 4", "sliding_window"),
        ("Granite with windows", "layer_types"),
        ("Granite MoE with windows", "layer_types"),
        ("PhiMoE", "lm_head_bias"),
        ("ESM of tokens, with learned positions", "position_embedding_type"),
    ],
)
def test_keys_that_a_config_omits_are_those_of_its_class(
    name: str, key: str, tmp_path: Path
) -> None:
    kind = type(made(name, tmp_path))
    path = tmp_path / "config.json"
    said = json.loads(path.read_text())
    said.pop(key)
    path.write_text(json.dumps(said))
    config = kind.config_class.from_pretrained(tmp_path)
    config._attn_implementation = config._experts_implementation = "eager"
    model = kind.from_pretrained(tmp_path, config=config).double().eval()
    with torch.no_grad():
        expected = model(torch.tensor([IDS])).logits
    found = solve(open_model(tmp_path, tokens=IDS))["logits"]
    near(found, expected[:, -len(found) :])


def test_an_adapter_and_two_scalings_are_refused_or_told(tmp_path: Path) -> None:
    made("Llama", tmp_path)
    config = tmp_path / "config.json"
    said = json.loads(config.read_text())
    assert not open_model(tmp_path, tokens=IDS).remarks
    (tmp_path / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    remarks = open_model(tmp_path, tokens=IDS).remarks
    assert remarks == ("adapter_config.json: an adapter in the folder, which is not applied",)
    scaled = said | {"rope_scaling": {"rope_type": "linear", "factor": 2.0}}
    config.write_text(json.dumps(scaled))
    with pytest.raises(InputError, match="where null beside rope_parameters is needed"):
        open_model(tmp_path, tokens=IDS)
    name = "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight"
    save_tensors(tmp_path / "model.safetensors", **{name: np.zeros((4, 16))})
    for _ in range(2):
        with pytest.raises(InputError, match="an adapter alone"):
            open_model(tmp_path, tokens=IDS)
        config.unlink(missing_ok=True)


def test_names_after_those_of_a_wrapper_are_read(tmp_path: Path) -> None:
    """As of a compiled model, whose head is also within the wrapper."""
    made("Llama", tmp_path)
    expected = solve(open_model(tmp_path, tokens=IDS))["logits"]
    arrays = {f"_orig_mod.{name}": np.array(e) for name, e in find_weights(tmp_path).items()}
    save_tensors(tmp_path / "model.safetensors", **arrays)
    assert np.abs(solve(open_model(tmp_path, tokens=IDS))["logits"] - expected).max() < 1e-5


def test_flaubert_normalizes_before_each_part_if_its_config_says_so(tmp_path: Path) -> None:
    """The package reads its own cache as a list there, which it is not."""

    class NoCache:
        get_seq_length = staticmethod(lambda: 0)
        __getitem__ = staticmethod(lambda layer: None)

    config = transformers.FlaubertConfig(**XLM, pre_norm=True)
    model = spread_out(transformers.FlaubertWithLMHeadModel(config))
    model.save_pretrained(tmp_path)
    with torch.no_grad():
        out = model(torch.tensor([IDS]), cache=NoCache(), output_hidden_states=True)
    found = solve(open_model(tmp_path, tokens=IDS, layer=0))
    near(found["Y"], out.hidden_states[1])
    near(solve(open_model(tmp_path, tokens=IDS))["logits"], out.logits)


def test_a_family_in_a_file_may_be_like_xlm(tmp_path: Path) -> None:
    """Its layers are in several lists, also for the count and a draft."""
    made("XLM of masked words", tmp_path)
    expected = solve(open_model(tmp_path, tokens=IDS))["logits"]
    alike = {"title": "mine", "like": "xlm"}
    assert (solve(open_model(tmp_path, tokens=IDS, family=alike))["logits"] == expected).all()
    counts = [count(tmp_path, **more)["parameters"]["total"] for more in ({}, {"family": alike})]
    assert counts[0] == counts[1]
    assert json.loads(drafted(tmp_path)[0])["like"] == "xlm"


def test_a_family_in_a_file_may_be_like_an_encoder_with_a_decoder(tmp_path: Path) -> None:
    """And not like its decoder alone, which has a row of its own."""
    made("BART", tmp_path)
    given: dict[str, Any] = {"tokens": IDS, "decoder_tokens": [3, 9, 1]}
    expected = solve(open_model(tmp_path, **given))["logits"]
    found = solve(open_model(tmp_path, **given, family={"title": "mine", "like": "bart"}))
    assert (found["logits"] == expected).all()


def test_what_of_xlm_is_not_read_is_refused_or_told(tmp_path: Path) -> None:
    """A layer is not a module, padding has no weight, and a sum of languages is not computed."""
    model = made("XLM of masked words", tmp_path)
    with pytest.raises(InputError, match="a layer of XLM is not a module, so it is not traced"):
        trace(model, torch.tensor([IDS]))
    with pytest.raises(InputError, match=r"token 4 is padding \(pad_token_id\)"):
        open_model(tmp_path, tokens=[3, 4, 5])
    config = transformers.XLMConfig(**XLM, n_langs=2)
    transformers.XLMModel(config).save_pretrained(tmp_path)
    remarks = " ".join(open_model(tmp_path, tokens=IDS).remarks)
    assert 'no part of what is shown: "lang_embeddings.weight"' in remarks


def near(found: Any, expected: Any, most: float = NEAR) -> None:
    """Compare with what the package gives, of a batch of one."""
    assert found.shape == expected[0].shape
    assert np.abs(found - expected[0].numpy()).max() < most


@pytest.mark.slow
def test_a_base_of_rope_that_a_config_omits_is_that_of_its_type() -> None:
    """A type that also scales rope by default requires one."""
    known = transformers.models.auto.configuration_auto.CONFIG_MAPPING
    kinds = [
        kind
        for each in FAMILIES
        if each.settings.get("rope_base") is a_base
        for kind in each.types
        if kind in known
    ]
    assert len(kinds) > 60
    for kind in kinds:
        usual = getattr(known[kind](), "rope_parameters", None) or {}
        if usual.get("rope_type", "") != "default" or "rope_theta" not in usual:
            continue
        assert a_base(Config("", {"model_type": kind}), 0) == usual["rope_theta"], kind


def test_shards_are_read_by_their_index(tmp_path: Path) -> None:
    model = made("Llama", tmp_path, max_shard_size="20KB")
    assert (tmp_path / "model.safetensors.index.json").exists()
    opened = Model(tmp_path)
    tokens = through(opened.begin(IDS, "--tokens"), map(opened.layer, range(2)))
    out, _ = run(model, torch.tensor([IDS]))
    assert np.abs(tokens["X"].array - out.hidden_states[2][0].numpy()).max() < NEAR


@pytest.mark.parametrize("name", ["GPT-2", "Llama 3", "Gemma 2", "DeepSeek-V3", "GPT-OSS", "Phi"])
def test_a_layer_without_one_of_its_tensors_is_refused(name: str, tmp_path: Path) -> None:
    """The package draws it at random, with a warning."""
    made(name, tmp_path)
    path = tmp_path / "model.safetensors"
    whole = safetensors.numpy.load_file(path)
    for missing in (tensor for tensor in whole if ".1." in tensor):
        kept = {tensor: array for tensor, array in whole.items() if tensor != missing}
        safetensors.numpy.save_file(kept, path)
        with pytest.raises(InputError):
            open_model(tmp_path, tokens=IDS)


def test_a_head_without_its_bias_is_told(tmp_path: Path) -> None:
    made("Phi", tmp_path)
    path = tmp_path / "model.safetensors"
    kept = safetensors.numpy.load_file(path)
    del kept["lm_head.bias"]
    safetensors.numpy.save_file(kept, path)
    said = "b_out of the head is not in the files: taken for none"
    assert said in open_model(tmp_path, tokens=IDS).remarks


def test_a_tensor_in_two_shards_is_refused_and_one_file_comes_first(tmp_path: Path) -> None:
    """As in the package, which reads the last of two shards, and one file before an index."""
    model = made("Llama 3", tmp_path, max_shard_size="8KB")
    one = min(tmp_path.glob("model-00001-of-*.safetensors"))
    tensors = safetensors.numpy.load_file(one)
    other = "model.layers.2.mlp.up_proj.weight"
    assert other not in tensors
    safetensors.numpy.save_file({**tensors, other: np.zeros((24, 16))}, one)
    with pytest.raises(InputError, match=f'has "{other}", which is in model-0000'):
        open_model(tmp_path, tokens=IDS)
    doubled = {name: 2 * each for name, each in model.state_dict().items()}
    safetensors.torch.save_file(doubled, tmp_path / "model.safetensors")
    table = doubled["model.embed_tokens.weight"].numpy()
    assert (table[IDS] == open_model(tmp_path, tokens=IDS, layer=0).X).all()


def test_bfloat16_is_widened_as_the_package_widens_it(tmp_path: Path) -> None:
    model = made("Llama", tmp_path).bfloat16()
    model.save_pretrained(tmp_path)
    opened = Model(tmp_path)
    out, _ = run(model.double(), torch.tensor([IDS]))
    tokens = through(opened.begin(IDS, "--tokens"), map(opened.layer, range(2)))
    assert tokens["X"].array.dtype == np.float32
    assert np.abs(tokens["X"].array - out.hidden_states[2][0].numpy()).max() < 2e-3
    assert opened.remarks == ("weights are given in bfloat16, computed in float32",)


IMAGES = OF_IMAGES | {"image_size": 8, "patch_size": 4}
TEXTS = SMALL | {"bos_token_id": 48, "eos_token_id": 49}
TOWERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    # of a text and an image, as MODELS
    "CLIP": (
        "CLIPConfig",
        "CLIPModel",
        {"text_config": TEXTS, "vision_config": IMAGES, "projection_dim": 10},
    ),
    "CLIP with an old config": (
        "CLIPConfig",
        "CLIPModel",
        {
            "text_config": TEXTS | {"eos_token_id": 2},
            "vision_config": IMAGES | {"hidden_size": 20},
            "projection_dim": 10,
        },
    ),
    "CLIP: MetaCLIP 2": (
        "MetaClip2Config",
        "MetaClip2Model",
        {"text_config": TEXTS, "vision_config": IMAGES, "projection_dim": 10},
    ),
    "SigLIP": (
        "SiglipConfig",
        "SiglipModel",
        {"text_config": TEXTS | {"projection_size": 6}, "vision_config": IMAGES},
    ),
    "CLIP: OWL-ViT": (
        "OwlViTConfig",
        "OwlViTModel",
        {"text_config": TEXTS, "vision_config": IMAGES, "projection_dim": 10},
    ),
    "AIMv2": (
        "Aimv2Config",
        "Aimv2Model",
        {"text_config": TEXTS, "vision_config": IMAGES, "projection_dim": 10},
    ),
    "SigLIP of one width": (
        "SiglipConfig",
        "SiglipModel",
        {"text_config": TEXTS, "vision_config": IMAGES},
    ),
}


@pytest.mark.campaign(2)
@pytest.mark.parametrize("tower", ["text", "vision"])
@pytest.mark.parametrize("name", TOWERS)
def test_towers_of_text_and_images_are_those_of_the_package(
    name: str, tower: str, tmp_path: Path
) -> None:
    """Each layer of the tower that reads the input, and its pooled output."""
    model = made(name, tmp_path)
    ids = [*IDS, 49, 3, 49]
    given: dict[str, Any] = {"tokens": ids}
    read = torch.tensor([ids])
    if tower == "vision":
        read = torch.randn(1, 3, 8, 8, generator=torch.manual_seed(2))
        given = {"image": read.numpy()}
    own = getattr(model, f"{tower}_model")
    with torch.no_grad():
        more = {"attention_mask": torch.ones_like(read)} if tower == "text" else {}
        out = own(read, output_hidden_states=True, output_attentions=True, **more)
        pooled = out.pooler_output
        if name.startswith("CLIP") or (name, tower) == ("AIMv2", "text"):
            ways = {"text": model.text_projection, "vision": model.visual_projection}
            pooled = ways[tower](pooled)
    assert_layers(tmp_path, given, out)
    solution = solve(open_model(tmp_path, **given))
    if name.startswith(("SigLIP", "AIMv2")) and tower == "vision":
        near(solution["Y"], out.last_hidden_state)
        near(solution["F_pre"], pooled.unsqueeze(0))
    elif len(solution["F_pre"]) == 1:
        near(solution["F_pre"], pooled.unsqueeze(0))
    else:  # the end of the text is not the last token
        near(solution["F_pre"][[ids.index(49)]], pooled.unsqueeze(0))
        assert f"token {ids.index(49) + 1} ends the text" in " ".join(solution.problem.remarks)


def assert_layers(folder: Path, given: dict[str, Any], out: Any) -> None:
    """Compare the weights and the outputs of each layer of an encoder."""
    count = len(out.attentions)
    for layer in range(count):
        solution = solve(open_model(folder, **given, layer=layer))
        near(solution["A"], out.attentions[layer])
        near(solution["Y"], out.hidden_states[layer + 1])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["CLIP", "SigLIP of one width"])
def test_logits_of_an_image_and_a_text_follow_from_both_towers(name: str, tmp_path: Path) -> None:
    """As docs/models.md says; a remark names what is not read."""
    model, ids = made(name, tmp_path), [*IDS, 49]
    image = torch.randn(1, 3, 8, 8, generator=torch.manual_seed(2))
    with torch.no_grad():
        expected = model(input_ids=torch.tensor([ids]), pixel_values=image).logits_per_image
    read = [open_model(tmp_path, tokens=ids), open_model(tmp_path, image=image.numpy())]
    text, seen = (solve(each)["F_pre"][-1] for each in read)
    scale, bias = (getattr(model, f"logit_{each}", torch.zeros(1)) for each in ("scale", "bias"))
    cosine = text @ seen / np.linalg.norm(text) / np.linalg.norm(seen)
    assert abs(cosine * float(scale.exp()) + float(bias) - float(expected)) < NEAR
    for each in read:
        assert 'not read, and no part of what is shown: "logit_' in " ".join(each.remarks)


def test_clip_without_an_end_of_text_is_refused(tmp_path: Path) -> None:
    made("CLIP", tmp_path)
    with pytest.raises(InputError, match=r"no end of text \(49\): the head of CLIP reads the"):
        open_model(tmp_path, tokens=IDS)
    with pytest.raises(InputError, match="needs an input: tokens or text or image"):
        open_model(tmp_path)


PLANE = {"use_relative_position_bias": True}
OF_PATCHES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "DINOv2": ("Dinov2Config", "Dinov2Model", IMAGES),
    "DINOv2, gated, without biases": (
        "Dinov2Config",
        "Dinov2Model",
        IMAGES | {"use_swiglu_ffn": True, "qkv_bias": False},
    ),
    "DINOv2 with registers": ("Dinov2WithRegistersConfig", "Dinov2WithRegistersModel", IMAGES),
    "DINOv3": ("DINOv3ViTConfig", "DINOv3ViTModel", IMAGES),
    "AIMv2, biased": ("Aimv2VisionConfig", "Aimv2VisionModel", IMAGES | {"qkv_bias": True}),
    "DINOv3 with registers, gated": (
        "DINOv3ViTConfig",
        "DINOv3ViTModel",
        IMAGES | {"num_register_tokens": 2, "use_gated_mlp": True, "key_bias": True},
    ),
    "BEiT of classes": (
        "BeitConfig",
        "BeitForImageClassification",
        IMAGES | PLANE | {"use_absolute_position_embeddings": True, "num_labels": 3},
    ),
    "BEiT by the class token": (
        "BeitConfig",
        "BeitForImageClassification",
        IMAGES | {"use_shared_relative_position_bias": True, "use_mean_pooling": False},
    ),
    "BEiT without a head": ("BeitConfig", "BeitModel", IMAGES | PLANE),
    "BEiT: data2vec": (
        "Data2VecVisionConfig",
        "Data2VecVisionForImageClassification",
        IMAGES | PLANE | {"layer_scale_init_value": 0.0},
    ),
    "BLIP": ("BlipVisionConfig", "BlipVisionModel", IMAGES),
    "DPT": ("DPTConfig", "DPTModel", IMAGES | {"pooler_act": "relu"}),
    "FLAVA's images": ("FlavaImageConfig", "FlavaImageModel", IMAGES),
    "GIT vision, without BLIP's bias": ("GitVisionConfig", "GitVisionModel", IMAGES),
    "InternVL, not as DINO": (
        "InternVLVisionConfig",
        "InternVLVisionModel",
        IMAGES | {"image_size": [8, 8], "patch_size": [4, 4], "attention_bias": True},
    ),
    "Janus, not as BLIP": (
        "JanusVisionConfig",
        "JanusVisionModel",
        IMAGES | {"mlp_ratio": 1.5},
    ),
    "CLIP vision, turned: MLCD": ("MLCDVisionConfig", "MLCDVisionModel", IMAGES),
    "DeiT": ("DeiTConfig", "DeiTModel", IMAGES),
    "ViT without a head": ("ViTConfig", "ViTModel", IMAGES | {"pooler_act": "relu"}),
    "ViT-MSN": ("ViTMSNConfig", "ViTMSNModel", IMAGES),
    "ViT-MSN of classes": (
        "ViTMSNConfig",
        "ViTMSNForImageClassification",
        IMAGES | {"num_labels": 3},
    ),
    "I-JEPA of classes": (
        "IJepaConfig",
        "IJepaForImageClassification",
        IMAGES | {"num_labels": 3},
    ),
    "DeiT of classes": ("DeiTConfig", "DeiTForImageClassification", IMAGES | {"num_labels": 3}),
    "DeiT with a teacher": (
        "DeiTConfig",
        "DeiTForImageClassificationWithTeacher",
        IMAGES | {"num_labels": 3},
    ),
    "DINOv2 of classes": (
        "Dinov2Config",
        "Dinov2ForImageClassification",
        IMAGES | {"mlp_ratio": 2, "num_labels": 3},
    ),
    "DINOv2 with registers, of classes": (
        "Dinov2WithRegistersConfig",
        "Dinov2WithRegistersForImageClassification",
        IMAGES | {"num_labels": 3},
    ),
    "CLIP vision": (
        "CLIPVisionConfig",
        "CLIPVisionModelWithProjection",
        IMAGES | {"projection_dim": 6},
    ),
    "CLIP of classes": (
        "CLIPConfig",
        "CLIPForImageClassification",
        {"vision_config": IMAGES, "text_config": TEXTS, "num_labels": 3},
    ),
    "SigLIP of classes": (
        "SiglipConfig",
        "SiglipForImageClassification",
        {"vision_config": IMAGES, "text_config": TEXTS, "num_labels": 3},
    ),
}


@pytest.mark.campaign(3)
@pytest.mark.parametrize("name", OF_PATCHES)
def test_encoders_of_images_are_those_of_the_package(name: str, tmp_path: Path) -> None:
    """Each layer, the outputs, and the pooled output or the logits."""
    model = made(name, tmp_path)
    read = torch.randn(1, 3, 8, 8, generator=torch.manual_seed(2))
    given = {"image": read.numpy()}
    with torch.no_grad():
        out = model(read, output_hidden_states=True, output_attentions=True)
    assert_layers(tmp_path, given, out)
    solution = solve(open_model(tmp_path, **given))
    steps = {step.name for step in solution.plan}
    if "last_hidden_state" in out and "CLIP vision" not in name:  # it normalizes one token alone
        near(solution["Y"], out.last_hidden_state)
    if "logits" in out:
        near(solution["logits"], out.logits.unsqueeze(0))
        parts = layers(tmp_path, **given).why("logits[1,1]").value
        assert parts == pytest.approx(float(out.logits[0, 1]))
    pooled = out.get("pooler_output", out.get("image_embeds"))
    if pooled is not None and not any(each in name for each in ("DINO", "MLCD", "BLIP")):
        last = next(each for each in ("G_pre", "F_pre", "Y_mean") if each in steps)
        near(solution[last], pooled.unsqueeze(0))


AUDIO = SMALL | {
    "conv_dim": [6, 10],
    "conv_stride": [5, 2],
    "conv_kernel": [10, 3],
    "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 6,
    "num_conv_pos_embedding_groups": 4,
    "num_labels": 3,
    "classifier_proj_size": 12,
}
STABLE = {
    "do_stable_layer_norm": True,
    "feat_extract_norm": "layer",
    "num_conv_pos_embeddings": 5,
}
OF_AUDIO: dict[str, tuple[str, str, dict[str, Any]]] = {
    "wav2vec2 of letters": ("Wav2Vec2Config", "Wav2Vec2ForCTC", AUDIO),
    "wav2vec2 of frames": ("Wav2Vec2Config", "Wav2Vec2ForAudioFrameClassification", AUDIO),
    "wav2vec2, pre-norm": ("Wav2Vec2Config", "Wav2Vec2Model", AUDIO | STABLE),
    "HuBERT of letters": ("HubertConfig", "HubertForCTC", AUDIO),
    "UniSpeech of letters": ("UniSpeechConfig", "UniSpeechForCTC", AUDIO | STABLE),
    "UniSpeech-SAT": ("UniSpeechSatConfig", "UniSpeechSatModel", AUDIO),
    "WavLM of letters": ("WavLMConfig", "WavLMForCTC", AUDIO),
    "WavLM, pre-norm, with few buckets": (
        "WavLMConfig",
        "WavLMModel",
        AUDIO | STABLE | {"num_buckets": 8, "max_bucket_distance": 6},
    ),
    "wav2vec2 of classes": ("Wav2Vec2Config", "Wav2Vec2ForSequenceClassification", AUDIO | STABLE),
}


@pytest.mark.campaign(3)
@pytest.mark.parametrize("name", OF_AUDIO)
def test_encoders_of_audio_are_those_of_the_package(name: str, tmp_path: Path) -> None:
    """What the layers read, each layer, and the logits, of what the convolutions of audio give."""
    model = made(name, tmp_path)
    wave = torch.randn(1, 120, generator=torch.manual_seed(2))
    out, seen = run(model, wave)
    end = "feature_extractor"
    frames = next(gave for where, gave in seen.items() if where.endswith(end)).numpy()
    given = {"spectrogram": frames}
    for layer in range(3):
        solution = solve(open_model(tmp_path, **given, layer=layer))
        weights = solution["A"]
        if name.startswith("WavLM"):  # the package gives the mean of the heads
            weights = np.broadcast_to(weights.mean(axis=0), weights.shape)
        near(weights, out.attentions[layer])
        if layer < 2:
            near(solution["Y"], out.hidden_states[layer + 1])
    solution = solve(open_model(tmp_path, **given))
    if "logits" in out:
        logits = out.logits
        near(solution["logits"], logits if logits.ndim == 3 else logits.unsqueeze(0))
    else:
        near(solution["Y"], out.last_hidden_state)
    with pytest.raises(InputError, match="this model reads 10 × any number: the features"):
        open_model(tmp_path, spectrogram=frames[:, 1:])


@pytest.mark.parametrize("kind", ["ASTModel", "ASTForAudioClassification"])
def test_overlapping_patches_of_a_spectrogram_are_those_of_the_package(
    kind: str, tmp_path: Path
) -> None:
    said = {"num_mel_bins": 8, "max_length": 14, "patch_size": 4, "frequency_stride": 2}
    config = transformers.ASTConfig(**OF_IMAGES, **said, time_stride=3, num_labels=3)
    config._attn_implementation = "eager"
    model = spread_out(getattr(transformers, kind)(config))
    model.save_pretrained(tmp_path)
    read = torch.randn(1, 14, 8, generator=torch.manual_seed(2))
    with torch.no_grad():
        out = model(read, output_hidden_states=True, output_attentions=True)
    given = {"spectrogram": read[0].T.numpy()}
    assert_layers(tmp_path, given, out)
    solution = solve(open_model(tmp_path, **given))
    if "logits" in out:
        near(solution["logits"], out.logits.unsqueeze(0))
    else:
        near(solution["Y"], out.last_hidden_state)
    with pytest.raises(InputError, match="this model reads 8 × 14: bands and frames"):
        open_model(tmp_path, spectrogram=read[0].numpy())


def test_padded_frames_are_those_of_the_package(tmp_path: Path) -> None:
    """They are 0 before the convolution of positions, and no frame attends to them."""
    model = made("wav2vec2, pre-norm", tmp_path)
    mask = torch.ones(1, 120, dtype=torch.long)
    mask[0, 90:] = 0
    seen: list[Any] = []
    hook = lambda module, read, gave: seen.append(gave)  # noqa: E731 - one line
    model.feature_extractor.register_forward_hook(hook)
    with torch.no_grad():
        wave = torch.randn(1, 120, generator=torch.manual_seed(2))
        out = model(wave, attention_mask=mask, output_attentions=True)
        frames = seen[0]
        real = model._get_feature_vector_attention_mask(frames.shape[-1], mask)[0].bool().numpy()
    assert 0 < real.sum() < len(real)
    given: dict[str, Any] = {"spectrogram": frames.numpy(), "ignore": (~real).astype(int)}
    solution = solve(open_model(tmp_path, **given))
    found, expected = solution["Y"][real], out.last_hidden_state[0].numpy()[real]
    assert np.abs(found - expected).max() < NEAR
    weights = out.attentions[-1][0].numpy()[:, real]
    assert np.abs(solution["A"][:, real] - weights).max() < NEAR
    made("wav2vec2 of classes", tmp_path)
    with pytest.raises(InputError, match="averages all tokens that are not padding"):
        open_model(tmp_path, **given)


MODERN = SMALL | {
    "local_attention": 4,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "cls_token_id": 1,
    "sep_token_id": 2,
}
DEBERTA = SMALL | {
    "relative_attention": True,
    "share_att_key": True,
    "pos_att_type": ["c2p", "p2c"],
    "position_biased_input": False,
    "type_vocab_size": 0,
}
LOG_BUCKETS = {"position_buckets": 4, "max_relative_positions": 16, "norm_rel_ebd": "layer_norm"}
XLNET = {"vocab_size": 50, "d_model": 16, "n_layer": 3, "n_head": 4, "d_inner": 24}
PROTEINS = SMALL | {
    "pad_token_id": 1,
    "mask_token_id": 8,
    "position_embedding_type": "rotary",
    "token_dropout": True,
}
GEMMA_4 = GROUPED | {
    "head_dim": 8,
    "global_head_dim": 12,
    "sliding_window": 3,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
    "num_hidden_layers": 4,
    "hidden_size_per_layer_input": 6,
    "vocab_size_per_layer_input": 50,
    "pad_token_id": 0,
}
TURNED_BY_AXES = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 1, 1]}
OF_OCR = OF_GROUPS | {"num_key_value_heads": 4, "head_dim": 4}
OF_OCR |= {"mlp_layer_types": ["dense", "sparse", "sparse"]}
PHI_4 = GROUPED | {
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "original_max_position_embeddings": 12,
    "vision_config": {"hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 1}
    | {"num_attention_heads": 2, "crop_size": 28, "image_size": 28},
    "audio_config": {"hidden_size": 8, "intermediate_size": 12, "num_blocks": 1}
    | {"num_attention_heads": 2, "nemo_conv_channels": 8, "ext_pw_out_channel": 8},
}
LOCAL: dict[str, tuple[str, str, dict[str, Any]]] = {
    "A.X K1": ("AXK1Config", "AXK1ForCausalLM", LATENT),
    "Cohere 2 MoE, the mean of its experts": (
        "Cohere2MoeConfig",
        "Cohere2MoeForCausalLM",
        EXPERTS
        | {"num_shared_experts": 2, "head_dim": 8, "sliding_window": 3}
        | {"mlp_layer_types": ["dense", "sparse", "sparse"], "prefix_dense_intermediate_size": 20},
    ),
    "Cosmos 3 Edge": (
        "Cosmos3EdgeTextConfig",
        "Cosmos3EdgeTextModel",
        GROUPED | {"head_dim": 8, "rope_parameters": TURNED_BY_AXES | {"rope_theta": 1e8}},
    ),
    "DeepSeek-OCR": (
        "DeepseekOcr2TextConfig",
        "DeepseekOcr2TextModel",
        OF_OCR | {"topk_method": "greedy", "routed_scaling_factor": 2.0},
    ),
    "Unlimited-OCR, by groups": (
        "UnlimitedOcrTextConfig",
        "UnlimitedOcrTextModel",
        OF_OCR | {"topk_method": "group_limited_greedy", "sliding_window": 2},
    ),
    "EmbeddingGemma 2": (
        "EmbeddingGemma2TextConfig",
        "EmbeddingGemma2TextModel",
        GROUPED
        | {"head_dim": 8, "sliding_window": 2, "pad_token_id": 0, "embedding_dim": 6}
        | {"hidden_size_per_layer_input": 5}
        | {"layer_types": ["sliding_attention", "full_attention", "sliding_attention"]},
    ),
    "GLM-OCR without a share": (
        "GlmOcrTextConfig",
        "GlmOcrTextModel",
        GROUPED | {"head_dim": 8, "rope_parameters": TURNED_BY_AXES},
    ),
    "GLM-Image": (
        "GlmImageTextConfig",
        "GlmImageTextModel",
        GROUPED
        | {
            "hidden_size": 32,
            "vision_vocab_size": 50,
            "pad_token_id": 0,
            "rope_parameters": TURNED_BY_AXES,
        },
    ),
    "ImageGPT": (
        "ImageGPTConfig",
        "ImageGPTForCausalImageModeling",
        {"vocab_size": 50, "n_positions": 12, "n_embd": 16, "n_layer": 3, "n_head": 4},
    ),
    "Kolibri": (
        "Kolibri1Config",
        "Kolibri1ForCausalLM",
        EXPERTS
        | {"head_dim": 8, "sliding_window": 3, "shared_expert_intermediate_size": 6}
        | {"layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}
        | {"norm_topk_prob": True},
    ),
    "MiniMax-M3": (
        "MiniMaxM3VLTextConfig",
        "MiniMaxM3VLForCausalLM",
        EXPERTS
        | {"head_dim": 8, "dense_intermediate_size": 20, "shared_intermediate_size": 10}
        | {"mlp_layer_types": ["dense", "sparse", "sparse"], "index_n_heads": 2}
        | {"layer_types": ["full_attention", "minimax_m3_sparse", "full_attention"]}
        | {"rope_parameters": {"rope_theta": 1e4, "partial_rotary_factor": 0.5}},
    ),
    "Phi-4, of text": ("Phi4MultimodalConfig", "Phi4MultimodalForCausalLM", PHI_4),
    "UltraBERT": (
        "UltrabertConfig",
        "UltrabertModel",
        GROUPED
        | {"sliding_window": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
        | {"layer_types": ["sliding_attention", "full_attention", "sliding_attention"]},
    ),
    "DeBERTa": ("DebertaV2Config", "DebertaV2Model", DEBERTA),
    "DeBERTa-v3 of masked words": (
        "DebertaV2Config",
        "DebertaV2ForMaskedLM",
        DEBERTA | LOG_BUCKETS,
    ),
    "DeBERTa-v3 of classes": (
        "DebertaV2Config",
        "DebertaV2ForSequenceClassification",
        DEBERTA | LOG_BUCKETS | {"num_labels": 3},
    ),
    "DeBERTa-v2, own projections of distances": (
        "DebertaV2Config",
        "DebertaV2ForTokenClassification",
        DEBERTA
        | LOG_BUCKETS
        | {"share_att_key": False, "type_vocab_size": 2, "embedding_size": 8}
        | {"position_biased_input": True, "legacy": False},
    ),
    "DeBERTa-v2, distances on one side": (
        "DebertaV2Config",
        "DebertaV2ForMaskedLM",
        DEBERTA | {"pos_att_type": "p2c", "position_biased_input": True, "legacy": False},
    ),
    "DeBERTa, the first": ("DebertaConfig", "DebertaModel", DEBERTA),
    "DeBERTa, the first, of masked words": (
        "DebertaConfig",
        "DebertaForMaskedLM",
        DEBERTA | {"pos_att_type": "c2p|p2c", "max_relative_positions": 5},
    ),
    "DeBERTa, the first, of masked words, c2p": (
        "DebertaConfig",
        "DebertaForMaskedLM",
        DEBERTA
        | {"pos_att_type": "c2p", "type_vocab_size": 2, "position_biased_input": True}
        | {"legacy": False},
    ),
    "DeBERTa, the first, of classes": (
        "DebertaConfig",
        "DebertaForSequenceClassification",
        DEBERTA | {"num_labels": 3, "hidden_act": "gelu_new", "pooler_hidden_act": "relu"},
    ),
    "DeBERTa without distances": (
        "DebertaConfig",
        "DebertaForTokenClassification",
        DEBERTA
        | {"relative_attention": False, "pos_att_type": None, "position_biased_input": True},
    ),
    "Doge": ("DogeConfig", "DogeForCausalLM", GROUPED | {"head_dim": 8}),
    "Doge, biased, with one key head": (
        "DogeConfig",
        "DogeForCausalLM",
        SMALL | {"num_key_value_heads": 1, "attention_bias": True, "tie_word_embeddings": True},
    ),
    "DBRX": ("DbrxConfig", "DbrxForCausalLM", DBRX),
    "DBRX, clipped, with one key head": (
        "DbrxConfig",
        "DbrxForCausalLM",
        DBRX
        | {"attn_config": {"kv_n_heads": 1, "clip_qkv": 0.5, "rope_theta": 1e4}}
        | {"ffn_config": DBRX["ffn_config"] | {"moe_normalize_expert_weights": None}},
    ),
    "XLM": ("XLMConfig", "XLMModel", XLM | {"gelu_activation": False, "pre_norm": True}),
    "XLM of masked words": ("XLMConfig", "XLMWithLMHeadModel", XLM),
    "XLM of classes": ("XLMConfig", "XLMForSequenceClassification", XLM | {"num_labels": 3}),
    "FlauBERT of masked words": (
        "FlaubertConfig",
        "FlaubertWithLMHeadModel",
        XLM | {"tie_word_embeddings": False},
    ),
    "XLNet": ("XLNetConfig", "XLNetModel", XLNET),
    "XLNet of masked words": ("XLNetConfig", "XLNetLMHeadModel", XLNET | {"ff_activation": "relu"}),
    "XLNet of classes": (
        "XLNetConfig",
        "XLNetForSequenceClassification",
        XLNET | {"num_labels": 3},
    ),
    "ESM": ("EsmConfig", "EsmModel", PROTEINS | {"token_dropout": False}),
    "ESM of masked words, dropping masks": (
        "EsmConfig",
        "EsmForMaskedLM",
        PROTEINS
        | {"emb_layer_norm_before": True}
        | {"rope_parameters": {"rope_type": "default", "rope_theta": 50.0}},  # is ignored
    ),
    "ESM of tokens, with learned positions": (
        "EsmConfig",
        "EsmForTokenClassification",
        PROTEINS | {"position_embedding_type": "absolute", "num_labels": 3},
    ),
    "RemBERT": ("RemBertConfig", "RemBertModel", SMALL | {"input_embedding_size": 12}),
    "RemBERT of masked words": (
        "RemBertConfig",
        "RemBertForMaskedLM",
        SMALL | {"input_embedding_size": 12, "output_embedding_size": 10},
    ),
    "Gemma 4 with shared keys": (
        "Gemma4TextConfig",
        "Gemma4ForCausalLM",
        GEMMA_4 | {"num_kv_shared_layers": 2, "use_double_wide_mlp": True, "attention_bias": True},
    ),
    "Gemma 4 with biased values of keys": (
        "Gemma4TextConfig",
        "Gemma4ForCausalLM",
        GEMMA_4 | {"attention_k_eq_v": True, "attention_bias": True},
    ),
    "Gemma 4 with values of keys": (
        "Gemma4TextConfig",
        "Gemma4ForCausalLM",
        GEMMA_4
        | {"attention_k_eq_v": True, "num_global_key_value_heads": 1}
        | {"hidden_size_per_layer_input": 0, "final_logit_softcapping": 3.0},
    ),
    "Gemma 4 with experts": (
        "Gemma4TextConfig",
        "Gemma4ForCausalLM",
        GEMMA_4
        | {"enable_moe_block": True, "num_experts": 5, "top_k_experts": 2}
        | {"hidden_size_per_layer_input": 0, "moe_intermediate_size": 7},
    ),
    "Gemma 4, unified": (
        "Gemma4UnifiedTextConfig",
        "Gemma4UnifiedForCausalLM",
        {k: v for k, v in GEMMA_4.items() if "per_layer" not in k} | {"num_kv_shared_layers": 2},
    ),
    "Longformer": (
        "LongformerConfig",
        "LongformerForMaskedLM",
        SMALL | {"attention_window": [4, 4, 4], "pad_token_id": 1},
    ),
    "BigBird": ("BigBirdConfig", "BigBirdModel", SMALL | {"rescale_embeddings": True}),
    "BigBird of classes": (
        "BigBirdConfig",
        "BigBirdForSequenceClassification",
        SMALL | {"attention_type": "original_full", "num_labels": 3},
    ),
    "RoFormer": ("RoFormerConfig", "RoFormerModel", SMALL),
    "RoFormer of masked words": (
        "RoFormerConfig",
        "RoFormerForMaskedLM",
        SMALL | {"embedding_size": 12},
    ),
    "RoFormer of classes": (
        "RoFormerConfig",
        "RoFormerForSequenceClassification",
        SMALL | {"num_labels": 3},
    ),
    "OpenAI privacy filter": (
        "OpenAIPrivacyFilterConfig",
        "OpenAIPrivacyFilterForTokenClassification",
        EXPERTS | {"head_dim": 8, "sliding_window": 2, "num_labels": 3},
    ),
    "Laguna with windows": (
        "LagunaConfig",
        "LagunaForCausalLM",
        EXPERTS
        | {"gating": "per-element", "moe_routed_scaling_factor": 2.5, "head_dim": 8}
        | {"shared_expert_intermediate_size": 6}
        | IN_TURN,
    ),
    "ModernBERT": ("ModernBertConfig", "ModernBertModel", MODERN),
    "ModernBERT decoder": (
        "ModernBertDecoderConfig",
        "ModernBertDecoderForCausalLM",
        MODERN | IN_TURN,
    ),
    "ModernBERT of masked words": (
        "ModernBertConfig",
        "ModernBertForMaskedLM",
        MODERN
        | {
            "attention_bias": True,
            "mlp_bias": True,
            "classifier_bias": True,
            "norm_bias": True,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
        },
    ),
    "ModernBERT of classes": (
        "ModernBertConfig",
        "ModernBertForSequenceClassification",
        MODERN | {"classifier_pooling": "mean", "num_labels": 3},
    ),
    "ModernBERT of tokens": (
        "ModernBertConfig",
        "ModernBertForTokenClassification",
        MODERN | {"num_labels": 3},
    ),
}


@pytest.mark.campaign(2)
@pytest.mark.parametrize("name", LOCAL)
def test_encoders_with_local_layers_are_those_of_the_package(name: str, tmp_path: Path) -> None:
    model = made(name, tmp_path)
    most = 1e-6 if name.startswith("RoFormer") else NEAR  # whose sines are float32
    with torch.no_grad():
        out = model(torch.tensor([IDS]), output_hidden_states=True, output_attentions=True)
    count = len(out.attentions)
    for layer in range(count):
        solution = solve(open_model(tmp_path, tokens=IDS, layer=layer))
        if name != "Longformer":  # whose weights are those of places in a window
            near(solution["A"], out.attentions[layer], most)
        if layer < count - 1:
            near(solution["Y"], out.hidden_states[layer + 1], most)
    solution = solve(open_model(tmp_path, tokens=IDS))
    found = out.logits if "logits" in out else out.last_hidden_state
    expected = found if found.ndim == 3 else found.unsqueeze(0)
    last = "F_pre" if name.startswith("EmbeddingGemma") else "Y"  # whose outputs are projected
    shown = solution["logits" if "logits" in out else last]
    near(shown, expected[:, -1:] if "Causal" in type(model).__name__ else expected, most)


@pytest.mark.slow
def test_tensors_outside_the_layers_that_are_not_read_are_named(tmp_path: Path) -> None:
    model = made("DeBERTa", tmp_path)
    assert not any("not read" in each for each in open_model(tmp_path, tokens=[4, 8]).remarks)
    kept = {name: each.numpy() for name, each in model.state_dict().items()}
    kept |= {"memory.table": np.ones((2, 16)), "tower.layers.0.fc.weight": np.ones((2, 2))}
    save_tensors(tmp_path / "model.safetensors", **kept)
    said = 'not read, and no part of what is shown: "memory.table", "tower.layers.…"'
    assert said in open_model(tmp_path, tokens=[4, 8]).remarks


def test_an_old_config_of_modernbert_is_read_as_the_package_reads_it(tmp_path: Path) -> None:
    """Its bases, and which layers are local, have other keys."""
    made("ModernBERT", tmp_path)
    given = solve(open_model(tmp_path, tokens=IDS))["Y"]
    old = {"global_rope_theta": 160000.0, "local_rope_theta": 10000.0}
    make_old(tmp_path, old | {"global_attn_every_n_layers": 3})
    assert (solve(open_model(tmp_path, tokens=IDS))["Y"] == given).all()


def make_old(folder: Path, more: dict[str, Any]) -> None:
    """Replace the keys of rope and of kinds of layers in a config by older ones."""
    config = json.loads((folder / "config.json").read_text())
    for key in ("layer_types", "rope_parameters"):
        config.pop(key, None)
    (folder / "config.json").write_text(json.dumps(config | more))


def test_old_local_layers_of_gemma_3_have_their_own_base(tmp_path: Path) -> None:
    made("Gemma 3", tmp_path)
    given = solve(open_model(tmp_path, tokens=IDS))["Y"]
    make_old(tmp_path, {"sliding_window_pattern": 2, "rope_theta": 1e6})
    assert (solve(open_model(tmp_path, tokens=IDS))["Y"] == given).all()


@pytest.mark.parametrize("name", ["Apertus", "SmolLM3", "Cohere", "GLM-4", "Helium", "Llama"])
def test_a_base_that_a_config_omits_is_the_usual_one_or_refused(name: str, tmp_path: Path) -> None:
    made(name, tmp_path)
    make_old(tmp_path, {})
    if name == "Apertus":  # which also scales rope then
        with pytest.raises(InputError, match='it has no "rope_theta"'):
            open_model(tmp_path, tokens=IDS)
        return
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float64)
    with torch.no_grad():
        out = model.eval()(torch.tensor([IDS]))
    compare_end(solve(open_model(tmp_path, tokens=IDS)), out, NEAR)


def test_8_bits_of_bitsandbytes_are_multiplied_by_the_scales_of_rows(tmp_path: Path) -> None:
    """A row of int8 times SCB / 127, as `int8_vectorwise_dequant` has it; no kernel is run."""
    model = made("Llama", tmp_path)
    arrays = {name: each.numpy() for name, each in model.state_dict().items()}
    kept: dict[str, Any] = {}
    for name, array in arrays.items():
        if "_proj.weight" not in name:
            kept[name] = array
            continue
        scale = np.abs(array).max(axis=1).astype(np.float32)
        whole = np.round(array / scale[:, None] * 127).astype(np.int8)
        start = name.removesuffix("weight")
        kept |= {
            name: whole,
            f"{start}SCB": scale,
            f"{start}weight_format": np.uint8(0).reshape(()),
        }
        arrays[name] = whole * (scale[:, None] / np.float32(127))
    save_tensors(tmp_path / "model.safetensors", **kept)
    config = json.loads((tmp_path / "config.json").read_text())
    config["quantization_config"] = {"quant_method": "bitsandbytes", "load_in_8bit": True}
    (tmp_path / "config.json").write_text(json.dumps(config))
    model.load_state_dict({name: torch.tensor(each).double() for name, each in arrays.items()})
    out, _ = run(model, torch.tensor([IDS]))
    solution = solve(open_model(tmp_path, tokens=IDS))
    assert np.abs(solution["A"] - out.attentions[-1][0].numpy()).max() < 1e-6
    assert np.abs(solution["logits"][0] - out.logits[0, -1].numpy()).max() < 1e-4
    assert "weights are given in int8" in " ".join(solution.problem.remarks)


UNKNOWN: dict[str, dict[str, Any]] = {
    "Funnel": {"vocab_size": 50, "block_sizes": [1, 2], "d_model": 16, "n_head": 4, "d_head": 4},
    "Nystromformer": SMALL,
    "BigBirdPegasus": BART,
    "Swin": {"image_size": 8, "patch_size": 2, "embed_dim": 8, "depths": [1, 2]}
    | {"num_heads": [2, 2], "window_size": 2},
    "Rwkv": {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2},
}


@pytest.mark.campaign(4)
@pytest.mark.parametrize("name", UNKNOWN)
def test_a_message_about_an_unknown_model_has_every_kind_of_tensor(
    name: str, tmp_path: Path
) -> None:
    """Names are whole: of those that differ in numbers alone, the first, and their count."""
    config = getattr(transformers, f"{name}Config")(**UNKNOWN[name])
    model = getattr(transformers, f"{name}Model")(config)
    model.save_pretrained(tmp_path)
    with pytest.raises(InputError) as error:
        open_model(tmp_path, tokens=IDS)
    said, listed = str(error.value), [*find_weights(tmp_path)]
    shown = [line.split('"')[1] for line in said.splitlines() if line.startswith('  "')]
    alike = {re.sub(r"(?<=\.)\d+(?=\.)", "#", each) for each in listed}
    assert {*shown} <= {*listed}
    assert {re.sub(r"(?<=\.)\d+(?=\.)", "#", each) for each in shown} == alike
    assert len(shown) == len(alike)
    titles = re.findall(r"^  ([^\n\":]+): (?:not read|also needed|all are)", said, re.M)
    titles = [title for each in titles for title in each.split(", ")]
    assert len(titles) == len({*titles})
    near = {"Nystromformer": "BERT", "BigBirdPegasus": "LED"}
    if name in near:
        assert said.partition("nearly fit:\n")[2].startswith(f"  {near[name]}")
    elif name in ("Funnel", "Rwkv"):
        assert any(f"lists them): {each}" in said for each in ("it halves the", "it has no att"))
        assert "No family here has names like these" in said


EYES = {"hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 1, "image_size": 28}
EYES |= {"num_attention_heads": 2, "patch_size": 14}
QWENS_EYES = {"depth": 1, "hidden_size": 8, "intermediate_size": 12, "num_heads": 2}
QWENS_EYES |= {"out_hidden_size": 16}
AXES = {"rope_type": "default", "rope_theta": 1e4}
WITH_IMAGES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "GLM-4V": ("Glm4v", OF_AXES, QWENS_EYES | {"hidden_size": 32, "out_hidden_size": 32}),
    "GLM-OCR": ("GlmOcr", OF_AXES | {"head_dim": 8}, QWENS_EYES | {"out_hidden_size": 32}),
    "GLM-4V MoE": (
        "Glm4vMoe",
        OF_AXES | OF_GROUPS | {"hidden_size": 32},
        QWENS_EYES | {"out_hidden_size": 32},
    ),
    "PaddleOCR-VL": (
        "PaddleOCRVL",
        {"head_dim": 8, "rope_parameters": AXES | {"mrope_section": [2, 1, 1]}},
        EYES,
    ),
    "Gemma 3": ("Gemma3", {"head_dim": 8, "sliding_window": 3, "query_pre_attn_scalar": 6}, EYES),
    "Gemma 4": (
        "Gemma4",
        GEMMA_4 | {"num_kv_shared_layers": 2},
        EYES | {"head_dim": 4, "num_key_value_heads": 2},
    ),
    "Mistral 3": ("Mistral3", {"model_type": "mistral"}, EYES | {"model_type": "pixtral"}),
    "LLaVA": ("Llava", {"model_type": "llama"}, EYES | {"model_type": "clip_vision_model"}),
    "LLaVA of Granite, whose factor it leaves out": (
        "Llava",
        {"model_type": "granite", "logits_scaling": 4.0, "embedding_multiplier": 2.0},
        EYES | {"model_type": "clip_vision_model"},
    ),
    "Aya Vision, without the factor of Cohere": (
        "AyaVision",
        {"model_type": "cohere2", "logit_scale": 0.3},
        EYES | {"model_type": "siglip_vision_model"},
    ),
    "Gemma 3, without a cap": (
        "Gemma3",
        {"head_dim": 8, "query_pre_attn_scalar": 6, "final_logit_softcapping": 3.0},
        EYES,
    ),
    "HyperCLOVA X, with its factor": (
        "HyperCLOVAXVisionV2",
        {"model_type": "hyperclovax", "logits_scaling": 4.0},
        QWENS_EYES | {"model_type": "qwen2_5_vl_vision"},
    ),
    "Qwen2.5-VL": (
        "Qwen2_5_VL",
        {"rope_parameters": AXES | {"mrope_section": [1, 1, 0]}},
        QWENS_EYES,
    ),
    "Qwen3-VL": (
        "Qwen3VL",
        {"head_dim": 8, "rope_parameters": AXES | {"mrope_section": [2, 1, 1]}},
        QWENS_EYES | {"deepstack_visual_indexes": [0]},
    ),
    "Qwen3-VL-MoE": (
        "Qwen3VLMoe",
        {k: v for k, v in EXPERTS.items() if k != "num_local_experts"}
        | {"head_dim": 8, "rope_parameters": AXES | {"mrope_section": [2, 1, 1]}}
        | {"mlp_only_layers": [1]},
        QWENS_EYES | {"deepstack_visual_indexes": [0]},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_IMAGES)
def test_the_text_of_a_model_of_text_and_images_is_that_of_its_family(
    name: str, tmp_path: Path
) -> None:
    kind, text, vision = WITH_IMAGES[name]
    config = getattr(transformers, f"{kind}Config")(
        text_config=GROUPED | text, vision_config=vision
    )
    config.text_config._experts_implementation = "eager"
    model = spread_out(getattr(transformers, f"{kind}ForConditionalGeneration")(config))
    model.save_pretrained(tmp_path)
    with torch.no_grad():
        expected = model(input_ids=torch.tensor([IDS])).logits[:, -1:]
    problem = open_model(tmp_path, tokens=IDS)
    near(solve(problem)["logits"], expected)
    assert "images are not read: this is the model of text" in problem.remarks


@pytest.mark.slow
def test_keys_of_a_model_around_that_of_text_change_nothing(tmp_path: Path) -> None:
    """As of MusicFlamingo, whose head_dim is that of its audio."""
    _, text, vision = WITH_IMAGES["LLaVA"]
    config = transformers.LlavaConfig(text_config=GROUPED | text, vision_config=vision)
    spread_out(transformers.LlavaForConditionalGeneration(config)).save_pretrained(tmp_path)
    expected = solve(open_model(tmp_path, tokens=IDS))["logits"]
    path = tmp_path / "config.json"
    outer = {"head_dim": 16, "max_position_embeddings": 2, "sliding_window": 2}
    path.write_text(json.dumps(json.loads(path.read_text()) | outer))
    near(solve(open_model(tmp_path, tokens=IDS))["logits"], torch.tensor(expected)[None])


@pytest.mark.slow
def test_the_head_of_a_model_may_be_within_that_of_text(tmp_path: Path) -> None:
    text = {n: each for n, each in SMALL.items() if n != "num_key_value_heads"}
    config = transformers.FuyuConfig(
        text_config=text | {"model_type": "persimmon"}, image_size=8, patch_size=4
    )
    model = spread_out(transformers.FuyuForCausalLM(config))
    model.save_pretrained(tmp_path)
    with torch.no_grad():
        expected = model(input_ids=torch.tensor([IDS])).logits[:, -1:]
    near(solve(open_model(tmp_path, tokens=IDS))["logits"], expected)


@pytest.mark.slow
def test_experts_of_hubs_have_inputs_before_outputs(tmp_path: Path) -> None:
    """As in the files of Qwen3-VL-MoE, which the package turns while it loads them."""
    _, text, vision = WITH_IMAGES["Qwen3-VL-MoE"]
    config = transformers.Qwen3VLMoeConfig(text_config=GROUPED | text, vision_config=vision)
    spread_out(transformers.Qwen3VLMoeForConditionalGeneration(config)).save_pretrained(tmp_path)
    expected = solve(open_model(tmp_path, tokens=IDS))["logits"]
    arrays = {name: np.array(each) for name, each in find_weights(tmp_path).items()}
    turned = {name: each.swapaxes(1, 2) for name, each in arrays.items() if ".experts." in name}
    save_tensors(tmp_path / "model.safetensors", **arrays | turned)
    assert turned
    assert np.abs(solve(open_model(tmp_path, tokens=IDS))["logits"] - expected).max() < 1e-12


@pytest.mark.slow
def test_a_gemma_3_of_images_with_few_keys_has_the_usual_values(tmp_path: Path) -> None:
    """As the config of Gemma 3 with 4 billion parameters."""
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 6, "vocab_size": 50}
    said = sizes | {"sliding_window": 3}
    config = transformers.Gemma3Config(text_config=said, vision_config=EYES)
    spread_out(transformers.Gemma3ForConditionalGeneration(config)).save_pretrained(tmp_path)
    kept = json.loads((tmp_path / "config.json").read_text())
    said |= {"model_type": "gemma3_text", "rope_scaling": {"factor": 8.0, "rope_type": "linear"}}
    (tmp_path / "config.json").write_text(json.dumps(kept | {"text_config": said}))
    kind = transformers.AutoModelForImageTextToText
    model = kind.from_pretrained(tmp_path, dtype=torch.float64).eval()
    with torch.no_grad():
        expected = model(input_ids=torch.tensor([IDS])).logits[:, -1:]
    near(solve(open_model(tmp_path, tokens=IDS))["logits"], expected)


@pytest.mark.slow
def test_a_gemma_4_of_images_with_few_keys_has_the_usual_values(tmp_path: Path) -> None:
    """As configs of hubs, which omit the values of the class."""
    kept = ("vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "layer_types")
    said = {key: GEMMA_4[key] for key in kept} | {"vocab_size_per_layer_input": 50}
    eyes = EYES | {"head_dim": 4, "num_key_value_heads": 2}
    config = transformers.Gemma4Config(text_config=said, vision_config=eyes)
    model = spread_out(transformers.Gemma4ForConditionalGeneration(config))
    model.save_pretrained(tmp_path)
    whole = json.loads((tmp_path / "config.json").read_text())
    few = {"text_config": said | {"model_type": "gemma4_text"}}
    (tmp_path / "config.json").write_text(json.dumps(whole | few))
    with torch.no_grad():
        expected = model(input_ids=torch.tensor([IDS])).logits[:, -1:]
    near(solve(open_model(tmp_path, tokens=IDS))["logits"], expected)


@pytest.mark.slow
def test_the_text_of_a_folder_of_llama_4_with_images_is_read(tmp_path: Path) -> None:
    vision = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 8,
              "patch_size": 4, "intermediate_size": 32, "vision_output_dim": 16,
              "projector_input_dim": 16, "projector_output_dim": 16,
              "pixel_shuffle_ratio": 0.5}  # fmt: skip
    config = transformers.Llama4Config(text_config=LLAMA4, vision_config=vision)
    model = spread_out(transformers.Llama4ForConditionalGeneration(config))
    model.save_pretrained(tmp_path)
    with torch.no_grad():
        expected = model.language_model(input_ids=torch.tensor([IDS])).logits[:, -1:]
    problem = open_model(tmp_path, tokens=IDS)
    near(solve(problem)["logits"], expected)
    assert "images are not read: this is the model of text" in problem.remarks


COMPONENTS: dict[str, dict[str, str]] = {
    # the modules whose outputs are parts of a logit, by the ends of their names
    "BART": {"self_attn.out_proj": "self.O", "encoder_attn.out_proj": "cross.O", "fc2": "F_2"},
    "mBART": {"self_attn.out_proj": "self.O", "encoder_attn.out_proj": "cross.O", "fc2": "F_2"},
    "T5": {"SelfAttention.o": "self.O", "EncDecAttention.o": "cross.O", "DenseReluDense.wo": "F_2"},
    "ViT": {"attention.o_proj": "O", "mlp.fc2": "F_2"},
    "BERT of masked words": {"attention.output.dense": "O", "output.dense": "F_2"},
    "Qwen2-MoE": {"self_attn.o_proj": "O", "mlp": "F_2"},
    "DeepSeek-V3": {"self_attn.o_proj": "O", "mlp": "F_2"},
    "Llama 4": {"self_attn.o_proj": "O", "feed_forward": "F_2"},
    "GPT-NeoX": {"attention.dense": "O", "mlp": "F_2"},
    "Gemma 2": {"self_attn.o_proj": "O", "mlp": "F_2"},
}


def test_the_parts_of_logits_sum_to_them_in_float32_and_those_of_classes_in_one_row(
    tmp_path: Path,
) -> None:
    """Frequencies of rope are float64, and what is computed with them is not."""
    said = GROUPED | {"rope_parameters": YARN, "pad_token_id": 0}
    model = transformers.LlamaForSequenceClassification(transformers.LlamaConfig(**said))
    spread_out(model).bfloat16().save_pretrained(tmp_path)
    shown = solve(open_model(tmp_path, tokens=IDS))["logits"]
    assert shown.dtype == np.float32
    assert shown.shape == (1, 2)
    opened = layers(tmp_path, tokens=IDS)
    for column in (0, 1):
        found = opened.why(f"logits[1,{column}]")
        assert abs(sum(part.value for part in found.parts) - shown[0, column]) < 1e-4
    with pytest.raises(InputError, match=f"it has row {len(IDS)}, and columns 0 to 1"):
        opened.why("logits[2,1]")


def fix_scales(model: Any) -> None:
    """Let the scale of each normalization have no gradient."""
    for module in model.modules():
        kind = type(module).__name__
        if not kind.endswith("Norm"):
            continue
        is_rms = kind != "LayerNorm"
        gain = 1 if "Gemma" in kind else 0
        eps = getattr(module, "variance_epsilon", getattr(module, "eps", None))

        def forward(x: Any, own: Any = module, is_rms: bool = is_rms, gain: int = gain,
                    eps: float = eps) -> Any:  # fmt: skip
            x = x if is_rms else x - x.mean(-1, keepdim=True)
            x = x * (x.pow(2).mean(-1, keepdim=True) + eps).rsqrt().detach()
            bias = getattr(own, "bias", None)
            return x * (getattr(own, "weight", 1) + gain) + (0 if bias is None else bias)

        module.forward = forward


def leaves_of(model: Any, name: str) -> dict[str, Any]:
    """Return what will hold each component's output in the next run, from which it is a leaf."""
    leaves: dict[str, Any] = {}

    def leaf(where: str) -> Any:
        def hook(module: Any, read: Any, gave: Any) -> Any:
            one = gave[0] if isinstance(gave, tuple) else gave
            leaves[where] = one.detach().clone().requires_grad_()
            return (leaves[where], *gave[1:]) if isinstance(gave, tuple) else leaves[where]

        return hook

    for path, module in model.named_modules():
        ends = [end for end in COMPONENTS[name] if path.endswith(f".{end}")]
        layer = re.search(r"\.(\d+)\.", path)
        if ends and layer and (name not in PAIRS or path.startswith(("model.decoder", "decoder"))):
            step = COMPONENTS[name][max(ends, key=len)]
            module.register_forward_hook(leaf(f"layer {layer[1]}, {step}"))
    return leaves


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPONENTS)
def test_contributions_are_gradients_with_fixed_scales(name: str, tmp_path: Path) -> None:
    """Each component's output is a leaf: its part is the gradient times it, by autograd."""
    model = made(name, tmp_path)
    given: dict[str, Any] = {"tokens": IDS}
    call: dict[str, Any] = {"input_ids": torch.tensor([IDS])}
    at, entry = (2, 7), "logits[3,7]"
    if name in PAIRS:
        given["decoder_tokens"] = [0, 4, 9]
        call["decoder_input_ids"] = torch.tensor([[0, 4, 9]])
    if name == "ViT":
        image = torch.randn(1, 3, 8, 8, generator=torch.manual_seed(2))
        given, call = {"image": image.numpy()}, {"pixel_values": image}
        at, entry = (1,), "logits[1,1]"
    fix_scales(model)
    leaves = leaves_of(model, name)
    logit = model(**call).logits[0][at]
    logit.backward()
    found = layers(tmp_path, **given).why(entry)
    assert float(found.value) == pytest.approx(float(logit), abs=1e-9)
    share = float(logit) / 30  # the factor of the softcap of Gemma 2 is fixed, too
    factor = share / np.arctanh(share) / (1 - share**2) if name == "Gemma 2" else 1.0
    assert leaves
    for where, each in leaves.items():
        step = where.rpartition(", ")[2]
        bias = where.replace(step, step.replace("O", "b_O"))
        own = [p for p in found.parts if p.text in (where, bias) or f"{where}, head" in p.text]
        expected = float((each.grad * each).sum()) * factor
        assert sum(float(p.value) for p in own) == pytest.approx(expected, abs=1e-9), where
    for asked in [ask for part in found.parts for ask in part.asks][-3:]:
        inner = layers(tmp_path, **given).why(entry, asked)
        value = next(part.value for part in found.parts if part.text == asked)
        assert sum(float(each.value) for each in inner.parts) == pytest.approx(value, abs=1e-9)


ABLATED = {
    # the change, the module that reads the heads, the columns of the head
    "BART": ("1.cross.2", "decoder.layers.1.encoder_attn.out_proj", slice(8, 16)),
    "T5": ("1.self.3", "decoder.block.1.layer.0.SelfAttention.o", slice(10, 15)),
    "ViT": ("0.2", "layers.0.attention.o_proj", slice(4, 8)),
    "Qwen2-MoE": ("1.4", "layers.1.self_attn.o_proj", slice(12, 16)),
    "DeepSeek-V3": ("0.1", "layers.0.self_attn.o_proj", slice(3)),
    "GPT-NeoX": ("2.3", "layers.2.attention.dense", slice(8, 12)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ABLATED)
def test_ablation_of_a_head_is_that_of_the_package(name: str, tmp_path: Path) -> None:
    model = made(name, tmp_path)
    given: dict[str, Any] = {"tokens": IDS}
    call: dict[str, Any] = {"input_ids": torch.tensor([IDS])}
    if name in PAIRS:
        given["decoder_tokens"] = [0, 4, 9]
        call["decoder_input_ids"] = torch.tensor([[0, 4, 9]])
    if name == "ViT":
        image = torch.randn(1, 3, 8, 8, generator=torch.manual_seed(2))
        given, call = {"image": image.numpy()}, {"pixel_values": image}
    change, place, columns = ABLATED[name]
    (module,) = (each for path, each in model.named_modules() if path.endswith(place))

    def ablate(module: Any, read: Any) -> Any:
        heads = read[0].clone()
        heads[..., columns] = 0
        return (heads,)

    module.register_forward_pre_hook(ablate)
    with torch.no_grad():
        logits = model(**call).logits[0].reshape(-1, model(**call).logits.shape[-1])
    made_ = dict(layers(tmp_path, **given, only="Y").compare(ablate=change).found.arrays())
    near(made_["changed.logits"], logits[-1:].reshape(1, -1))
    assert np.abs(made_["changed.logits"] - made_["clean.logits"]).max() > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Qwen3", "DeepSeek-V3"])
def test_a_model_in_memory_generates(name: str, tmp_path: Path) -> None:
    model, ids = made(name, tmp_path), IDS
    with torch.no_grad():
        for _ in range(4):
            ids = [*ids, int(model(torch.tensor([ids])).logits[0, -1].argmax())]
    assert list(generate(model, 4, tokens=IDS, eos=()).found.tokens) == ids[len(IDS) :]


OTHERS = {
    # the classes of types that share a row, by the module that has them
    "align": ("AlignTextModel",),
    "altclip": ("AltCLIPVisionModel",),
    "apertus1p5": ("Apertus1p5TextForCausalLM",),
    "blip_2": ("Blip2VisionModel",),
    "bridgetower": ("BridgeTowerTextModel",),
    "chinese_clip": ("ChineseCLIPTextModel", "ChineseCLIPVisionModel"),
    "clap": ("ClapTextModel",),
    "clipseg": ("CLIPSegTextModel", "CLIPSegVisionModel"),
    "emu3": ("Emu3ForCausalLM",),
    "granite4_vision": ("Granite4VisionTextModel",),
    "groupvit": ("GroupViTTextModel",),
    "hunyuan_vl": ("HunYuanVLTextModel",),
    "idefics2": ("Idefics2VisionTransformer",),
    "idefics3": ("Idefics3VisionTransformer",),
    "instructblip": ("InstructBlipVisionModel",),
    "owlv2": ("Owlv2TextModel", "Owlv2VisionModel"),
    "qwen2_5_omni": ("Qwen2_5OmniThinkerTextModel",),
    "siglip2": ("Siglip2TextModel",),
    "smolvlm": ("SmolVLMVisionTransformer",),
    "splinter": ("SplinterModel",),
    "x_clip": ("XCLIPTextModel",),
}


@pytest.mark.slow
@pytest.mark.parametrize(("place", "kind"), [(p, k) for p, kinds in OTHERS.items() for k in kinds])
def test_types_with_the_layers_of_another_are_those_of_the_package(
    place: str, kind: str, tmp_path: Path
) -> None:
    """The weights and the outputs of each layer but the last."""
    module = importlib.import_module(f"transformers.models.{place}.modeling_{place}")
    said = IMAGES if "Vision" in kind and "Text" not in kind else TEXTS
    if "CausalLM" in kind or place in ("granite4_vision", "hunyuan_vl", "qwen2_5_omni"):
        rope = AXES | {"mrope_section": [2, 1, 1] if place == "hunyuan_vl" else [1, 1, 0]}
        said = GROUPED | {"rope_parameters": rope} | ({"head_dim": 8} if "Hun" in kind else {})
    said = said | {"pad_token_id": 0, "bos_token_id": 1} if "vocab_size" in said else said
    config = getattr(module, kind).config_class(**said)
    config._attn_implementation = "eager"
    model = spread_out(getattr(module, kind)(config))
    model.save_pretrained(tmp_path)
    read = torch.randn(1, 3, 8, 8, generator=torch.manual_seed(2))
    given: dict[str, Any] = {"image": read.numpy()}
    if "vocab_size" in said:
        read, given = torch.tensor([[*IDS, 49]]), {"tokens": [*IDS, 49]}
    with torch.no_grad():
        out = model(read, output_hidden_states=True, output_attentions=True)
    for layer in range(2):
        solution = solve(open_model(tmp_path, **given, layer=layer))
        near(solution["A"], out.attentions[layer])
        near(solution["Y"], out.hidden_states[layer + 1])


def test_a_trace_of_a_model_with_tokens_before_the_batch_is_refused() -> None:
    model = spread_out(transformers.XLNetModel(transformers.XLNetConfig(**XLNET)))
    with pytest.raises(InputError, match="reads 1 tokens, where the model reads 8"):
        trace(model, torch.tensor([IDS]), layer=1)


def test_an_encoder_of_questions_is_bert(tmp_path: Path) -> None:
    model = spread_out(transformers.DPRQuestionEncoder(transformers.DPRConfig(**SMALL)))
    model.save_pretrained(tmp_path)
    with torch.no_grad():
        out = model(torch.tensor([IDS]), output_hidden_states=True)
    near(solve(open_model(tmp_path, tokens=IDS))["Y"], out.hidden_states[-1])
    near(solve(open_model(tmp_path, tokens=IDS))["Y"][:1], out.pooler_output.unsqueeze(0))


def test_longformer_with_tokens_that_attend_to_all_is_refused(tmp_path: Path) -> None:
    """The package lets the first token do so for classes, and those of a question."""
    said = LOCAL["Longformer"][2]
    config = transformers.LongformerConfig(**said)
    transformers.LongformerForSequenceClassification(config).save_pretrained(tmp_path)
    with pytest.raises(InputError, match="one without global tokens is needed"):
        open_model(tmp_path, tokens=IDS)


def test_more_tokens_than_an_indexer_chooses_are_refused(tmp_path: Path) -> None:
    made("DeepSeek-V3.2", tmp_path)
    with pytest.raises(InputError, match="9 tokens, where this model has 8 places"):
        open_model(tmp_path, tokens=[*IDS, 3])


def test_what_shared_keys_do_not_allow_is_refused(tmp_path: Path) -> None:
    """A change of the layer whose keys are shared, and a run from the middle."""
    made("Gemma 4 with shared keys", tmp_path)
    opened = layers(tmp_path, tokens=IDS)
    assert opened.lens().found.final == int(
        solve(open_model(tmp_path, tokens=IDS))["prob"].argmax()
    )
    with pytest.raises(InputError, match="the effect of a change is not computed"):
        opened.compare(ablate="1.2")
    with pytest.raises(InputError, match="generating from such a model is not computed"):
        generate(tmp_path, 1, tokens=IDS)
    made_ = solve(open_model(tmp_path, tokens=IDS, layer=1))["Y"]
    np.savez(tmp_path / "after.npz", **{"1.Y": made_})
    with pytest.raises(InputError, match="layer 2 has the keys and values of layer 0"):
        list(layers(tmp_path, tokens=IDS, after=tmp_path / "after.npz"))
    remarks = open_model(tmp_path, tokens=IDS).remarks
    assert not any("not read" in each for each in remarks)


def test_a_head_of_a_decoder_names_its_attention(tmp_path: Path) -> None:
    made("T5", tmp_path)
    opened = layers(tmp_path, tokens=IDS, decoder_tokens=[0, 4])
    with pytest.raises(InputError, match=r"two attentions: write 1\.self\.2 or 1\.cross\.2"):
        list(opened.compare(ablate="1.2").found.arrays())


def test_mpt_reads_no_more_tokens_than_its_config_says(tmp_path: Path) -> None:
    """The package fails in the sum of its scores and its biases, which are of `max_seq_len`."""
    said = MODELS["MPT"][2] | {"max_seq_len": 5}
    model = spread_out(transformers.MptForCausalLM(transformers.MptConfig(**said)))
    with pytest.raises(RuntimeError, match="must match"):
        model(torch.tensor([IDS]))
    with pytest.raises(InputError, match="8 tokens, where this model has 5 places"):
        open_model(model, tokens=IDS)
    near(
        solve(open_model(model, tokens=IDS[:5]))["logits"],
        model(torch.tensor([IDS[:5]])).logits[:, -1:].detach(),
    )
    with pytest.raises(InputError, match="there are positions for 5: generate at most 2"):
        generate(model, 3, tokens=IDS[:4])


def test_configs_that_the_package_reads_otherwise_are_refused(tmp_path: Path) -> None:
    """Gemma 3 ignores a cap of its scores; DeepSeek-V3 may choose experts outside the groups."""
    said = MODELS["Gemma 3"][2] | {"attn_logit_softcapping": 2.0}
    model = transformers.Gemma3ForCausalLM(transformers.Gemma3TextConfig(**said))
    model.save_pretrained(tmp_path)
    with pytest.raises(InputError, match="attn_logit_softcapping"):
        open_model(tmp_path, tokens=IDS)
    said = GROUPED | {"attention_bias": True}
    model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**said))
    config = model.config.to_dict() | {"attention_bias": False}  # the package leaves biases out
    with pytest.raises(InputError, match="have no b_Q, b_K, b_V, b_O, and the files have"):
        open_model(model.state_dict(), config=config, tokens=IDS)
    said = MODELS["MPT, clipped"][2] | {"attn_config": {"qk_ln": True}}  # which has no effect there
    model = transformers.MptForCausalLM(transformers.MptConfig(**said))
    with pytest.raises(InputError, match='qk_ln" is "True": of MPT "False" is read'):
        open_model(model, tokens=IDS)
    model = transformers.OlmoForCausalLM(transformers.OlmoConfig(**GROUPED, clip_qkv=-1.0))
    with pytest.raises(InputError, match='"clip_qkv" is'):
        open_model(model, tokens=IDS)
    said = LATENT | {"n_group": 4, "topk_group": 1, "num_experts_per_tok": 3}
    model = transformers.DeepseekV3ForCausalLM(transformers.DeepseekV3Config(**said))
    with pytest.raises(InputError, match="2 experts are in the chosen groups"):
        solve(open_model(model, tokens=IDS, layer=1))
    model = transformers.DeepseekV2ForCausalLM(transformers.DeepseekV2Config(**said, mlp_bias=True))
    with pytest.raises(InputError, match="layer 1 has biases, b_s1, b_s2, b_s3, which are not"):
        open_model(model, tokens=IDS, layer=1)
