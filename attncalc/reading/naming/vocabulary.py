"""Words for the steps in several languages, and what several of them mean together."""

import re
import unicodedata
from functools import lru_cache

MOST_WORDS = 40
MOST_BESIDE = 5
"""The largest number of words with which "output weights" can be a given matrix."""
_DIVIDED = re.compile(r"[/÷] ?(?:√|sqrt)|^[/÷:] ?(?:√ ?)?\d[\d.,]*$")
_BY_ROOT = re.compile(r"^√ ?\d[^=]*$|^(?:[^√]*[,;] )?+[^=√]*+(?<= )√ ?\(?\d+\)?(?: \([^()\d]*\))?$")
"""A root before or behind words of any language."""

_EXACT = {
    "Q": "query queries anfrage anfragen abfrage abfragen requete requetes consulta consultas "
    "richiesta richieste interrogazione interrogazioni bevraging 查询 クエリ",
    "K": "key keys schlussel schluessel cle cles clef clefs clave claves llave llaves "
    "chiave chiavi chave chaves sleutel sleutels 键 鍵 キー",
    "V": "value values wert werte werten valeur valeurs valor valores "
    "valore valori waarde waarden 值 値 バリュー",
    "S": "score scores scoring similarity similarities logit logits skalarprodukt skalarprodukte "
    "ahnlichkeit ahnlichkeiten similarite similarites puntuacion puntuaciones puntaje puntajes "
    "wyniki similitud similitudes rohwerte energies energy bewertungen punktprodukte scalaire "
    "scalaires escalar escalares dot affinities punktzahlen aufmerksamkeitswerte "
    "punteggio punteggi somiglianza somiglianze pontuacao pontuacoes escore escores scalari "
    " inwendige inproduct inproducten 分数 得分 点积 点乘 内积 内積 スコア",
    "scaled": "scaled scaling rescaled echelle escalado "
    "escalados escalada escaladas divided divide dividing geteilt divise divises divisees dividido "
    "divididos divididas ajustes "
    "scalato scalati scalata scalate diviso divisi dividendo escalonado escalonados "
    "escalonadas geschaald geschaalde gedeeld 缩放 除以 スケール",
    "root": "sqrt √",
    "masked": "masked masking maskiert maskierte maskierten masque masques masquees enmascarado "
    "enmascarados enmascaradas mask maske mascara maskierung masquage enmascaramiento "
    "causal kausal kausale kausalen causale causales "
    "maschera mascherato mascherati mascherata mascherate mascarado mascarados mascaradas "
    "gemaskeerd gemaskeerde causali causais causaal causale 掩码 マスク 因果",
    "softmax": "softmax softargmax normalised normalized normalisiert normalizadas normalises "
    "alpha alphas α probability probabilities probs prob probabilites probabilite "
    "probabilidad probabilidades wahrscheinlichkeit wahrscheinlichkeiten",
    "weights": "weight weights gewicht gewichte gewichten gewichtung gewichtungen poids peso pesos "
    "pesi gewichten 权重 重み",
    "attention": "attention attn att aufmerksamkeit atencion "
    "attenzione atencao aandacht 注意力 注意 アテンション",
    "map": "map pattern matrice karte carte mapa distribution verteilung muster patron "
    "mappa kaart distribuzione distribuicao verdeling",
    "O": "output outputs context contexts ausgabe ausgaben ausgang kontext sortie sorties contexte "
    "contextes salida salidas contexto contextos weighted gewichtete gewichteten "
    "gewichteter ponderee ponderees ponderada ponderadas endergebnis "
    "uscita uscite saida saidas uitvoer uitgang uitgangen contesto contesti ponderata ponderate "
    "pesata gewogen 输出 出力 上下文 加权和",
    "result": "result results ergebnis ergebnisse resultat resultats resultado resultados final "
    "finale answer antwort reponse respuesta "
    "risultato risultati uitkomst uitkomsten resultaat resultaten finali finais "
    "结果 結果 最终 最終",
    "concat": "concat concatenated concatenation verkettet verkettung concatenes concatenados "
    "concatenazione concatenati concatenate concatenacao concatenadas 拼接 結合 连结",
    "rotated": "rotated rotary rope gedreht gedrehte rotiert rotierte tournees rotadas",
    "capped": "capped softcapped softcap gekappt",
    "positions": "positions positional positionen",
    "side": "side nebeneinander",
    "heads": "head heads kopf kopfe tete tetes cabeza cabezas "
    "testa teste cabeca cabecas hoofd hoofden 头 頭 ヘッド",
    "given": "input inputs embedding embeddings eingabe eingaben entree entrees entrada entradas "
    "given gegeben "
    "ingresso ingressi invoer 输入 入力",
    "projection": "projection projektion proyeccion proiezione projecao projectie",
    "exponentials": "exponential exponentials exponentialwert exponentialwerte exponentielle "
    "exponentielles exponencial exponenciales exp exps "
    "esponenziale esponenziali exponenciais exponenciais machten exponentieel 指数",
    "sum": "sum sums summe summen zeilensumme somme sommes suma sumas total totals "
    "somma somme soma somas som totale totali totaal 求和 总和 合计 合計",
    "before": "before vor avant antes 之前",
    "unscaled": "unscaled raw unskaliert unskalierte roh bruts brutes brutos unnormalized",
}
_OF_LAYERS = "均值 平均 平均值 方差 分散 层归一化 归一化 正規化 レイヤー正規化 残差 前馈 激活"
_OTHERS = "最大值 数值 键值对 阈值"
"""Words that contain others with a different meaning: a mean is not a value."""


@lru_cache(maxsize=4096)
def plain_word(text: str) -> str:
    """Return a text in lower case, without accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in plain if not unicodedata.combining(c))


_CONCEPT = {
    plain_word(word): concept for concept, words in _EXACT.items() for word in words.split()
}
_SIGNS = [*_CONCEPT, *map(plain_word, f"{_OF_LAYERS} {_OTHERS}".split())]
_UNPARTED = sorted((each for each in _SIGNS if ord(each[0]) > 0x2E80), key=len, reverse=True)
"""Words of Chinese and Japanese, which no blanks part: the longest count."""
_WORD = re.compile(
    "|".join([*_UNPARTED, "√", "α", r"[\u0900-\u097f]+", r"[^\W\d_α\u2e80-\U0003ffff]+"])
)
_STEMS = {
    "softmax": "소프트맥스 softmaks софтмакс "
    "aufmerksamkeitsgewicht aufmerksamkeitsmatrix aufmerksamkeitsmap "
    "aufmerksamkeitskarte aufmerksamkeitsverteilung attentionweight "
    "attentiongewicht",
    "S": "aufmerksamkeitsscore attentionscore scorematri ahnlichkeit skalarprodukt "
    "iloczyn скалярн skore pistee pistemaar pontszam scorur skor puan poang оценк "
    "оцінк βαθμ 점수 스코어 स्कोर",
    "weights": "gewichtsmatrix wagi wagami vikter вес vah paino suly ponder agirlik ağırlık "
    "bobot vægt ваги вага вагов βαρ 가중치 भार",
    "K": "schlussel schluessel klucz nyck anahtar ключ klic kluc avain avaim kulcs chei "
    "kunci nøkkel nøkl nøgl κλειδι 키 कुंजी",
    "Q": "anfrage abfrage zapytani fraga fragor sorgu запрос dotaz kysel lekerdez "
    "interogar kueri запит ερωτημα foresp 쿼리 질의 क्वेरी",
    "V": "wertematri wertevektor wertvektor wartosc varde deger значен hodnot arvo ertek "
    "valoar nilai verdi værdi τιμ 값 मान",
    "O": "ausgabe ausgang kontext wyjsci utdata выход vystup ulostul kimenet iesir cikti "
    "çıktı keluaran udgang utgang вихід виход εξοδ 출력 आउटपुट",
    "scaled": "skalier divi delat delen teilen podziel делен делим skalov skalow skalad skaler "
    "skaalat skalaz olcek ölçek bolun bölün diskala dibagi масштаб 스케일",
    "attention": "внимани pozornost uwag uppmarksam figyelm dikkat perhatian уваг προσοχ 어텐션 "
    "ध्यान",
    "masked": "maskov maskow maskera maskeli maskar маск",
    "heads": "hlav glow huvud голов",
    "result": "vysled wynik tulos eredmen hasil результат 결과",
}
"""The beginnings of words, also in Czech, Polish, Russian, Ukrainian, Swedish, Danish, Norwegian,
Finnish, Hungarian, Romanian, Turkish, Greek, Indonesian, Korean and Hindi.
"""
_BY_LENGTH = sorted(
    ((plain_word(stem), concept) for concept, own in _STEMS.items() for stem in own.split()),
    key=lambda each: -len(each[0]),
)


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, without accents.

    >>> words_of("Schlüssel-Matrix: clés")
    ['schlussel', 'matrix', 'cles']
    """
    return _WORD.findall(plain_word(text[:600]))


def concepts_in(text: str) -> tuple[list[str], int]:
    """Return the meanings of the words of a text, in order, and the number of words."""
    words = words_of(text)
    return [concept for word in words[:MOST_WORDS] if (concept := concept_of(word))], len(words)


_BESIDE = {"matrix", "matrices", "vector", "vectors", "the", "of", "each", "s", "all", "for", "and",
           "final", "my"}  # fmt: skip
"""Words beside the name of a step that do not change its meaning."""


def says_only_a_step(text: str) -> bool:
    """Return whether every word of a text belongs to the name of a step.

    >>> says_only_a_step("each head's outputs"), says_only_a_step("scores of Anna")
    (True, False)
    """
    return all(concept_of(word) or word in _BESIDE for word in words_of(text))


@lru_cache(maxsize=16_384)
def concept_of(word: str) -> str:
    """Return the meaning of a word in lower case without accents; "" if it is unknown."""
    if word in _CONCEPT:
        return _CONCEPT[word]
    return next((concept for stem, concept in _BY_LENGTH if word.startswith(stem)), "")


def step_of_words(text: str) -> tuple[str, bool] | None:
    """Return the matrix that words name, and whether the name is weak.

    >>> step_of_words("Skalierte Scores"), step_of_words("attention weights"), step_of_words("hi")
    (('S_scaled', False), ('A', False), None)
    """
    concepts, count = concepts_in(text)
    if not set(concepts) - {"root"}:
        is_by_root = 1 < count <= MOST_BESIDE and _BY_ROOT.search(text) is not None
        is_divided = _DIVIDED.search(text) is not None
        return ("S_scaled", not is_divided) if is_divided or is_by_root else None
    step = _step(concepts, count)
    if step is None:
        return ("O", True) if "result" in concepts else None
    return step, count > 12


def _step(concepts: list[str], count: int) -> str | None:
    """Return the step that several words name together, by the most specific rule."""
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
    """Remove the concepts that a text announces for later: scores before softmax."""
    if "before" in concepts:
        place = concepts.index("before")
        return concepts[:place] + concepts[place + 2 :]
    return concepts
