"""Words for the steps in English, German, French and Spanish, and what several of them mean."""

import re
import unicodedata

MOST_WORDS = 40
MOST_BESIDE = 5
"""Words in which "output weights" may stand, where they are a matrix that is given."""
_DIVIDED = re.compile(r"[/÷] ?(?:√|sqrt)")
_WORD = re.compile(r"[a-z]+|√|α")

_EXACT = {
    "Q": "query queries anfrage anfragen abfrage abfragen requete requetes consulta consultas",
    "K": "key keys schlussel schluessel cle cles clef clefs clave claves llave llaves",
    "V": "value values wert werte werten valeur valeurs valor valores",
    "S": "score scores scoring similarity similarities logit logits skalarprodukt skalarprodukte "
    "ahnlichkeit ahnlichkeiten similarite similarites puntuacion puntuaciones puntaje puntajes "
    "similitud similitudes rohwerte energies energy bewertungen punktprodukte scalaire scalaires "
    "escalar escalares dot affinities punktzahlen aufmerksamkeitswerte",
    "scaled": "scaled scaling rescaled skaliert skalierte skalierten skalierung echelle escalado "
    "escalados escalada escaladas divided divide dividing geteilt divise divises divisees dividido "
    "divididos divididas ajustes",
    "root": "sqrt √",
    "masked": "masked masking maskiert maskierte maskierten masque masques masquees enmascarado "
    "enmascarados enmascaradas mask maske mascara maskierung masquage enmascaramiento "
    "causal kausal kausale kausalen causale causales",
    "softmax": "softmax softargmax normalised normalized normalisiert normalizadas normalises "
    "alpha alphas α probability probabilities probs prob probabilites probabilite "
    "probabilidad probabilidades wahrscheinlichkeit wahrscheinlichkeiten",
    "weights": "weight weights gewicht gewichte gewichten gewichtung gewichtungen poids peso pesos",
    "attention": "attention attn att aufmerksamkeit atencion",
    "map": "map pattern matrice karte carte mapa distribution verteilung muster patron",
    "O": "output outputs context contexts ausgabe ausgaben ausgang kontext sortie sorties contexte "
    "contextes salida salidas contexto contextos weighted gewichtete gewichteten "
    "gewichteter ponderee ponderees ponderada ponderadas endergebnis",
    "result": "result results ergebnis ergebnisse resultat resultats resultado resultados final "
    "finale answer antwort reponse respuesta",
    "concat": "concat concatenated concatenation verkettet verkettung concatenes concatenados",
    "rotated": "rotated rotary rope gedreht gedrehte rotiert rotierte tournees rotadas",
    "capped": "capped softcapped softcap gekappt",
    "positions": "positions positional positionen",
    "side": "side nebeneinander",
    "heads": "head heads kopf kopfe tete tetes cabeza cabezas",
    "given": "input inputs embedding embeddings eingabe eingaben entree entrees entrada entradas "
    "given gegeben",
    "projection": "projection projektion proyeccion",
    "exponentials": "exponential exponentials exponentialwert exponentialwerte exponentielle "
    "exponentielles exponencial exponenciales exp exps",
    "sum": "sum sums summe summen zeilensumme somme sommes suma sumas total totals",
    "before": "before vor avant antes",
    "unscaled": "unscaled raw unskaliert unskalierte roh bruts brutes brutos unnormalized",
}
_CONCEPT = {word: concept for concept, words in _EXACT.items() for word in words.split()}
_STEMS = (
    ("aufmerksamkeitsgewicht", "softmax"),
    ("aufmerksamkeitsmatrix", "softmax"),
    ("aufmerksamkeitsmap", "softmax"),
    ("aufmerksamkeitskarte", "softmax"),
    ("aufmerksamkeitsverteilung", "softmax"),
    ("aufmerksamkeitsscore", "S"),
    ("attentionscore", "S"),
    ("attentionweight", "softmax"),
    ("attentiongewicht", "softmax"),
    ("gewichtsmatrix", "weights"),
    ("schlussel", "K"),
    ("schluessel", "K"),
    ("anfrage", "Q"),
    ("abfrage", "Q"),
    ("wertematri", "V"),
    ("wertevektor", "V"),
    ("wertvektor", "V"),
    ("ausgabe", "O"),
    ("ausgang", "O"),
    ("kontext", "O"),
    ("scorematri", "S"),
    ("ahnlichkeit", "S"),
)  # fmt: skip


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters, without accents.

    Examples
    --------
    >>> words_of("Schlüssel-Matrix: clés")
    ['schlussel', 'matrix', 'cles']
    """
    plain = unicodedata.normalize("NFKD", text[:600].casefold())
    return _WORD.findall("".join(c for c in plain if not unicodedata.combining(c)))


def concepts_in(text: str) -> tuple[list[str], int]:
    """Return what the words of a text stand for, in order, and how many words there are."""
    words = words_of(text)
    return [concept for word in words[:MOST_WORDS] if (concept := _concept(word))], len(words)


_BESIDE = {"matrix", "matrices", "vector", "vectors", "the", "of", "each", "s", "all", "for", "and",
           "final", "my"}  # fmt: skip
"""Words that may stand beside those of a step, and say nothing more."""


def says_only_a_step(text: str) -> bool:
    """Say whether every word of a text belongs to the name of a step.

    Examples
    --------
    >>> says_only_a_step("each head's outputs"), says_only_a_step("scores of Anna")
    (True, False)
    """
    return all(_concept(word) or word in _BESIDE for word in words_of(text))


def _concept(word: str) -> str:
    if word in _CONCEPT:
        return _CONCEPT[word]
    return next((concept for stem, concept in _STEMS if word.startswith(stem)), "")


def step_of_words(text: str) -> tuple[str, bool] | None:
    """Return the matrix that words stand for, and whether they say it only weakly.

    Examples
    --------
    >>> step_of_words("Skalierte Scores"), step_of_words("attention weights"), step_of_words("hi")
    (('S_scaled', False), ('A', False), None)
    """
    concepts, count = concepts_in(text)
    if not set(concepts) - {"root"}:
        return ("S_scaled", False) if _DIVIDED.search(text) else None
    step = _step(concepts, count)
    if step is None:
        return ("O", True) if "result" in concepts else None
    return step, count > 12


def _step(concepts: list[str], count: int) -> str | None:
    """Return the step that several words mean together, the rules from the surest on."""
    said = set(_without_what_comes_after(concepts))
    sides = [side for side in ("Q", "K", "V") if side in said]
    side = sides[0] if len(sides) == 1 else ""
    is_weighed = bool(said & {"softmax", "weights", "attention"})
    rules: tuple[tuple[object, str], ...] = (
        (said in ({"O", "weights"}, {"O", "projection"}) and count <= MOST_BESIDE, "W_O"),
        ("weights" in said and side and not said & {"attention", "softmax", "O"}, f"W_{side}"),
        ("concat" in said or (said >= {"heads", "side"} and not sides), "C"),
        ("rotated" in said and side in ("Q", "K") and side, f"{side}_rot"),
        ("capped" in said, "S_capped"),
        ("O" in said and "heads" in said and "result" not in said, "H"),
        ("O" in said or ("V" in said and is_weighed), "O"),
        ("softmax" in said or said >= {"sum", "scaled"}, "A"),
        (said >= {"attention", "weights"} and not said & {"S", "before"}, "A"),
        ("masked" in said and "unscaled" not in said, "S_masked"),
        ("scaled" in said or said >= {"S", "root"}, "S_scaled"),
        ("S" in said or sides == ["Q", "K"], "S"),
        (said & {"attention", "weights"}, "A"),
        (side, side),
        ("given" in said and not sides, "X"),
    )
    return next((step for holds, step in rules if holds), None)


def _without_what_comes_after(concepts: list[str]) -> list[str]:
    """Take out what a text only says to come later: scores before softmax."""
    if "before" in concepts:
        place = concepts.index("before")
        return concepts[:place] + concepts[place + 2 :]
    return concepts
