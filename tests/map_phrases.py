# ruff: noqa: E501
"""Ordinary ways to say what each output attends to, and the map that each of them says.

A map is written `1>3 3>1|2`: output 1 to input 3, output 3 to input 1 and second to input 2.
HELD_OUT was written before the reader was, and never looked at while it was made.
"""

HELD_OUT = [
    ("self", "The strongest connection of output 1 is with input 3.", "1>3"),
    ("self", "Output tokens 1 and 2 are determined almost entirely by input token 3, whereas output "
     "token 3 is mainly determined by input token 1 and to a lesser extent by input token 2.",
     "1>3 2>3 3>1|2"),
    ("self", "y1 <- x3\ny2 <- x3\ny3 <- x1 (solid), x2 (dashed)", "1>3 2>3 3>1|2"),
    ("self", "1 => 3\n2 => 3\n3 => 1", "1>3 2>3 3>1"),
    ("self", "For output 1 the most important input is input 3. For output 2 it is also input 3. "
     "For output 3 the most important is input 1, followed by input 2.", "1>3 2>3 3>1|2"),
    ("self", "| token | 1st choice | 2nd choice |\n|---|---|---|\n| 1 | 3 | |\n| 2 | 3 | |\n"
     "| 3 | 1 | 2 |", "1>3 2>3 3>1|2"),
    ("self", "second | most | output token\n- | 3 | 1\n- | 3 | 2\n2 | 1 | 3", "1>3 2>3 3>1|2"),
    ("self", "output\tsolid line\tdashed line\n1\t3\t-\n2\t3\t-\n3\t1\t2", "1>3 2>3 3>1|2"),
    ("self", "Row 1 has its largest weight in column 3, row 2 in column 3 and row 3 in column 1.",
     "1>3 2>3 3>1"),
    ("self", "Both the first and the second output pay most attention to the third input.",
     "1>3 2>3"),
    ("self", "Input 3 has the most influence on outputs 1 and 2. Input 1 has the most influence on "
     "output 3, then input 2.", "1>3 2>3 3>1|2"),
    ("self", "Query 3 puts most of its weight on key 1 (62 %) and the rest on key 2 (38 %).",
     "3>1|2"),
    ("self", "There is a solid line from output one to input three, from output two to input three "
     "and from output three to input one. There is a dashed line from output three to input two.",
     "1>3 2>3 3>1|2"),
    ("self", "Die Ausgaben 1 und 2 achten vor allem auf Eingabe 3, Ausgabe 3 auf Eingabe 1 und "
     "weniger auf Eingabe 2.", "1>3 2>3 3>1|2"),
    ("self", "La sortie 1 est surtout influencée par l'entrée 3.", "1>3"),
    ("self", "La salida 3 atiende a la entrada 1 y en segundo lugar a la entrada 2.", "3>1|2"),
    ("self", "Out 1: in 3 (0.99)\nOut 2: in 3 (0.99)\nOut 3: in 1 (0.62), then in 2 (0.38)",
     "1>3 2>3 3>1|2"),
    ("self", "Token 1 mostly uses token 3. Token 2 mostly uses token 3. Token 3 mostly uses token 1 "
     "and, less, token 2.", "1>3 2>3 3>1|2"),
    ("cross", "The first X1 token attends equally to the third and fourth X2 tokens; the second X1 "
     "token attends most to the fourth X2 token and second most to the third.", "1>3,4 2>4|3"),
    ("cross", "Output 1 has a tie: inputs 3 and 4. Output 2: input 4, then input 3.", "1>3,4 2>4|3"),
    ("cross", "For output 2, input 4 is the strongest and input 3 the second strongest.", "2>4|3"),
    ("cross", "Query 1 attends to keys 3 and 4 with the same weight 0.40.", "1>3,4"),
    ("cross", "| X1 token | largest weight | X2 token |\n|---|---|---|\n| 1 | 0.40 | 3 and 4 |\n"
     "| 2 | 0.64 | 4 |", "1>3,4 2>4"),
    ("words", '"cat" and "sat" look at "mat"; "mat" looks at "cat" and a bit at "sat".',
     "cat>mat sat>mat mat>cat|sat"),
    ("words", "cat → mat, sat → mat, mat → cat (dashed: sat)", "cat>mat sat>mat mat>cat|sat"),
    ("words", "The word cat is most strongly connected to the word mat.", "cat>mat"),
    ("self", "\\begin{itemize}\n\\item Output $1$ attends to input $3$.\n"
     "\\item Output $2$ attends to input $3$.\n\\end{itemize}", "1>3 2>3"),
    ("self", "$o_1 \\rightarrow x_3$, $o_2 \\rightarrow x_3$, $o_3 \\rightarrow x_1$", "1>3 2>3 3>1"),
    ("self", "All outputs attend to input 3, except the third, which attends to input 1.", None),
    ("self", "In the map we see that outputs 1 and 2 are connected with a solid line to\n"
     "input 3. Output 3 has a solid line to input 1 and a dashed line to\ninput 2.",
     "1>3 2>3 3>1|2"),
]  # fmt: skip

HELD_OUT_LATER = [
    (
        "self",
        "Output 1: solid: 3, dashed: 2; output 2: solid: 3, dashed: 1; output 3: solid 1, dashed 2",
        "1>? 3>1|2",
    ),
    ("words", "cat: {solid: mat, dashed: sat}\nhead_2:", None),
    (
        "words",
        "strongest: cat -> mat, sat -> mat\nsecond: cat -> sat, sat -> cat",
        "cat>mat|sat sat>mat|cat",
    ),
    (
        "self",
        "Output 1 listens to input 3 only.\nOutput 2 listens to input 3 only.\n"
        "Output 3 listens mainly to input 1, secondly to input 2.",
        "1>3 2>3 3>1|2",
    ),
    ("self", "The output of token 1 relies on token 3.", "1>3"),
    ("self", "Out of all inputs, input 3 contributes most to outputs 1 and 2.", "1>3 2>3"),
    (
        "self",
        "output 1 ---> input 3\noutput 2 ---> input 3\noutput 3 ---> input 1\n"
        "output 3 - - -> input 2",
        "1>3 2>3 3>1|2",
    ),
    (
        "self",
        "Output 1 is most strongly influenced by input 3; the same holds for output 2.",
        "1>3 2>3",
    ),
    ("self", "* o1: x3\n* o2: x3\n* o3: x1, x2", "1>3 2>3 3>1|2"),
    ("self", "From output 3: solid to input 1, dashed to input 2.", "3>1|2"),
    ("self", "O1 attends to X3, O2 attends to X3 and O3 attends to X1.", None),
    ("self", "Row 3: largest in column 1, second largest in column 2", "3>1|2"),
    (
        "self",
        "In row 3 the maximum is at position 1 and in rows 1 and 2 it is at position 3.",
        "1>3 2>3 3>1",
    ),
    ("self", "Token #1 attends to token #3.", "1>3"),
    ("self", "Output 1 (first row) attends to input 3 (third column).", "1>3"),
    ("self", "Output 3 divides its attention between input 1 (0.62) and input 2 (0.38).", "3>1|2"),
    ("self", "The first two outputs attend to the third input.", "1>3"),
    (
        "self",
        "| Output | Solid line to | Dashed line to |\n|:-:|:-:|:-:|\n| **1** | input 3 | (none) |\n"
        "| **2** | input 3 | (none) |\n| **3** | input 1 | input 2 |",
        "1>3 2>3 3>1|2",
    ),
    (
        "self",
        "Output | Attends most to | Weight\n1 | 3 | 0.99\n2 | 3 | 1.00\n3 | 1 | 0.62",
        "1>3 2>3 3>1",
    ),
    ("self", "Der erste und der zweite Output hängen fast nur vom dritten Input ab.", "1>3 2>3"),
    ("self", "Les sorties 1 et 2 dépendent surtout de l'entrée 3.", "1>3 2>3"),
    (
        "cross",
        "Both inputs 3 and 4 influence output 1 equally; output 2 is influenced most by input 4 "
        "and second most by input 3.",
        "1>3,4 2>4|3",
    ),
    ("cross", "X1_1 attends to X2_3 and X2_4 equally.", None),
    (
        "cross",
        "Output 1: inputs 3 and 4 (tie)\nOutput 2: input 4 (solid), input 3 (dashed)",
        "1>3,4 2>4|3",
    ),
    (
        "words",
        "cat attends most to mat (0.99), sat attends most to mat (1.00), mat attends most to "
        "cat (0.62) and second to sat (0.38).",
        "cat>mat sat>mat mat>cat|sat",
    ),
    ("words", 'The most important word for "mat" is "cat".', "mat>cat"),
    ("words", "mat: cat, then sat", "mat>cat|sat"),
]
"""Written when the reader passed all phrases above, before these were tried."""

WORKED_ON = [
    ("words", "cat: most -> mat, second -> sat\nsat: most = mat\nmat: most -> cat, second -> sat",
     "cat>? sat>mat mat>cat|sat"),
    ("words", "cat mira sobre todo a mat y sat (empate, no hay segunda)", None),
    ("self", "x1: most = x2, x3 (same value), second = x1\nx2: most = x3, second = x1",
     None),
    ("self", "query token | attends most to token | then to token\n1 | 3 | 2\n2 | 3 | 1\n3 | 1 | 2",
     "1>3|2 2>3|1 3>1|2"),
    ("self", "sortie;le plus;ensuite\n1;3;2\n2;3;1\n3;1;2".replace(";", " | "), "1>3|2 2>3|1 3>1|2"),
    ("self", "output\tmost\tsecond\n1\t2 and 3 (tie)\t1\n2\t3\t1\n3\t1\t2",
     "1>2,3|1 2>3|1 3>1|2"),
    ("words", 'La salida 2 ("sat") atiende sobre todo a la entrada 1 y después a la 3.', None),
    ("self", "Output token 1 attends to input token 3.\nOutput token 2 attends to input token 3.\n"
     "Output token 3 attends to input token 1.", "1>3 2>3 3>1"),
    ("self", "1 -> 3\n2 -> 3\n3 -> 1, 2", "1>3 2>3 3>1|2"),
    ("self", "1 -> 3\n2 -> 3\n3 -> 1", "1>3 2>3 3>1"),
    ("self", "| output | largest | second |\n|---|---|---|\n| 1 | 3 | - |\n| 2 | 3 | none |\n"
     "| 3 | 1 | 2 |", "1>3 2>3 3>1|2"),
    ("self", "output  largest  second\n1       3        -\n2       3        -\n3       1        2",
     "1>3 2>3 3>1|2"),
    ("self", "\\begin{tabular}{ccc}\nOutput & Largest & Second \\\\\n\\hline\n1 & 3 & -- \\\\\n"
     "2 & 3 & -- \\\\\n3 & 1 & 2 \\\\\n\\end{tabular}", "1>3 2>3 3>1|2"),
    ("self", "outputs 1 and 2 attend to input 3; output 3 to input 1 and less to input 2; no output "
     "attends to its own position", "1>3 2>3 3>1|2"),
    ("self", "Output 1 is influenced most by input 3.", "1>3"),
    ("self", "Output 1 depends mostly on input 3.", "1>3"),
    ("self", "Output 1 focuses on input 3", "1>3"),
    ("self", "Output 1 gets most of its information from input 3.", "1>3"),
    ("self", "The largest weight of row 1 is column 3.", "1>3"),
    ("self", "The largest weight in row 3 is in column 1, the second largest in column 2.", "3>1|2"),
    ("self", "solid line from output 1 to input 3\nsolid line from output 3 to input 1\n"
     "dashed line from output 3 to input 2", "1>3 3>1|2"),
    ("self", "Output 3: strongest input 1, second strongest input 2", "3>1|2"),
    ("self", "the third output attends to the first input and less to the second input", "3>1|2"),
    ("self", "Outputs 1 and 2 both attend to 3", "1>3 2>3"),
    ("self", "Output 1 ⇒ Input 3; Output 2 ⇒ Input 3", "1>3 2>3"),
    ("self", "Input 3 is attended to by outputs 1 and 2.", "1>3 2>3"),
    ("self", "Input token 3 influences output token 1 the most.", "1>3"),
    ("self", "So token 1 and 2 look at token 3 and token 3 looks at token 1 (62 %) and token 2.",
     "1>3 2>3 3>1|2"),
    ("self", "Output 3 attends most to input 1 (0.62) and second most to input 2 (0.38).", "3>1|2"),
    ("self", "Output 3 attends to inputs 1 (62%) and 2 (38%).", "3>1|2"),
    ("self", "Q1 attends to K3", "1>3"),
    ("self", "Output 1 attends to input 3, and so does output 2.", None),
    ("self", "Output 3 attends to input 1. It also attends to input 2, but less.", None),
    ("self", "- **Output 1** attends to **input 3**\n- **Output 2** attends to **input 3**",
     "1>3 2>3"),
    ("self", "Output 3 attends to input 1 and less\nto input 2.", "3>1|2"),
    ("self", "Output 3 attends to input 1\nand less to input 2.", "3>1|2"),
    ("self", "Therefore output 1 attends (almost) only to input 3, with weight ≈ 1.", "1>3"),
    ("self", "Token 3 attends to token 1 the most, and to token 2 the second most.", "3>1|2"),
    ("self", "Ausgabe 1 achtet auf Eingabe 3.", "1>3"),
    ("self", "L'uscita 1 dipende soprattutto dall'ingresso 3.", "1>3"),
    ("self", "A saída 1 depende da entrada 3.", "1>3"),
    ("self", "Uitvoer 1 let op invoer 3.", "1>3"),
    ("self", "输出1关注输入3", "1>3"),
    ("self", "La sortie 1 regarde l'entrée 3.", "1>3"),
    ("self", "La salida 1 depende de la entrada 3.", "1>3"),
    ("cross", "Query 1 attends to keys 3 and 4 equally. Query 2 attends to key 4, then key 3.",
     "1>3,4 2>4|3"),
    ("cross", "Output 1 attends to inputs 3 and 4.", "1>3,4"),
    ("cross", "X1 token 1 attends equally to X2 tokens 3 and 4.", "1>3,4"),
    ("cross", "| output | largest | second |\n|---|---|---|\n| 1 | 3, 4 | - |\n| 2 | 4 | 3 |",
     "1>3,4 2>4|3"),
    ("cross", "Output 1 ties between inputs 3 and 4.", "1>3,4"),
    ("words", "cat attends to mat", "cat>mat"),
    ("words", "mat influences cat the most.", "cat>mat"),
    ("words", "cat influences mat the most.", "mat>cat"),
    ("words", "mat is attended to most by cat and sat.", "cat>mat sat>mat"),
    ("words", "cat attends to sat", None),
    ("words", "The token 'cat' attends to 'mat'; \"sat\" attends to \"mat\".", "cat>mat sat>mat"),
    ("words", "| token | attends most to | second |\n|---|---|---|\n| cat | mat | |\n| sat | mat | |\n"
     "| mat | cat | sat |", "cat>mat sat>mat mat>cat|sat"),
    ("words", "cat -> mat\nsat -> mat\nmat -> cat", "cat>mat sat>mat mat>cat"),
]  # fmt: skip

NOT_A_MAP = [
    ("self", "the largest of them: row 1, column 2"),
    ("self", "No output attends to its own position."),
    ("self", "Output 1 does not attend to input 2."),
    ("self", "1 looks at 1: 1.5, at 2: -2.5, at 3: 8"),
    ("self", "- x1 attends to x1: 1.5, x2: -2.5, x3: 8"),
    ("self", "token 1 -> 1, 3\ntoken 2 -> -1, 1\ntoken 3 -> 2.5, -2"),
    ("self", "row 1 -> -2  -3"),
    ("self", "Attention lets every token look at all the other tokens."),
    ("self", "If output 1 attended to input 2, the result would be different."),
    ("self", "Output 1 is the weighted sum of the values."),
    ("self", "The first step is to multiply the input with the weights."),
    ("self", "Q = [1 3; -1 1; 2.5 -2]"),
    ("self", "q1 -> 3"),
    ("self", "In part 2 the most points are lost, see page 3."),
    ("self", "Outputs 1 and 2 are equal because rows 1 and 2 of A are equal."),
    ("self", "I spent most of my time on problem 2 and 3."),
    ("self", "The largest score is 8.5 and the second largest is 8."),
    ("words", "The cat sat on the mat."),
    ("words", "cat -> 0.2, 0.3"),
]
"""What must never become a line of a map."""

UNREAD = [
    ("self", "Output 1 attends mostly to the inputs around 3 and so on"),
    ("self", "output 1 attends to input 3 and input 1 and input 2 in some order"),
    ("self", "Output 1 attends to the last one"),
    ("self", "Output 1 attends to input 3, not to input 2."),
    ("self", "Output 1 attends more to input 3 than to input 2."),
    ("self", "Output 7 attends to input 3"),
    ("self", "All outputs attend to input 3, except the third, which attends to input 1."),
]
"""What says something of the map that is listed as not read."""

WITH_TIES = [
    "Output 1 looks equally at inputs 1, 3 and 4, then 2.\n"
    "Output 2: 2 and 4 (same weight), second 1 and 3.\n"
    "Output 3 = same as output 1.\n"
    "Output 4 -> 4 mostly, then all others the same.",
    "out1 -> in1,in3,in4 (0.30 each) then in2\nout2 -> in2,in4 (0.37) then in1,in3\n"
    "out3 -> in1,in3,in4 (0.30) then in2\nout4 -> in4 (0.48) then in1=in2=in3",
    "the map: y1 <- x1,x3,x4 (dashed x2); y2 <- x2,x4 (dashed x1,x3); y3 <- x1,x3,x4 (dashed x2); "
    "y4 <- x4 (dashed x1,x2,x3)",
    "y1: x1 x3 x4 (tied) / x2\ny2: x2 x4 (tied) / x1 x3\ny3: x1 x3 x4 (tied) / x2\n"
    "y4: x4 / x1 x2 x3 (tied)",
    "1: 1=3=4, 2\n2: 2=4, 1=3\n3: 1=3=4, 2\n4: 4, 1=2=3",
    "La sortie 1 regarde autant 1, 3 et 4, ensuite 2\n"
    "La sortie 2 regarde 2 et 4 à égalité, puis 1 et 3\n"
    "La sortie 3 : pareil que la 1\nLa sortie 4 regarde surtout 4, puis 1, 2, 3 ex aequo",
    "Výstup 1: nejvíc 1, 3 a 4 (stejně), pak 2\nVýstup 2: nejvíc 2 a 4 stejně, pak 1 a 3\n"
    "Výstup 3: jako výstup 1\nVýstup 4: nejvíc 4, pak 1, 2 a 3 stejně",
    "Uitvoer 1 kijkt evenveel naar 1, 3 en 4 en daarna naar 2. Uitvoer 2 kijkt evenveel naar 2 en "
    "4, dan naar 1 en 3. Uitvoer 3 doet hetzelfde als uitvoer 1. Uitvoer 4 kijkt vooral naar 4, de "
    "rest is gelijk.",
    "L'uscita 1 guarda ugualmente 1, 3 e 4, poi 2. L'uscita 2 guarda 2 e 4 a pari merito, poi 1 e "
    "3. L'uscita 3 come la 1. L'uscita 4 guarda soprattutto 4, gli altri tre a pari merito.",
    "第1个输出最关注输入1、3、4（并列），其次是2\n第2个输出最关注2和4（并列），其次是1和3\n"
    "第3个输出同第1个\n第4个输出最关注4，其次是1、2、3（并列）",
    "출력 1은 입력 1, 3, 4를 똑같이 가장 많이 보고 다음은 2\n"
    "출력 2는 입력 2, 4를 똑같이 가장 많이 보고 다음은 1, 3\n출력 3은 출력 1과 같음\n"
    "출력 4는 입력 4를 가장 많이 보고 다음은 1, 2, 3 동률",
    "Wyjście 1 patrzy po równo na 1, 3 i 4, potem na 2\n"
    "Wyjście 2 patrzy po równo na 2 i 4, potem na 1 i 3\nWyjście 3 tak samo jak 1\n"
    "Wyjście 4 patrzy głównie na 4, potem po równo na pozostałe",
    "Lähtö 1 katsoo eniten 1, 3 ja 4 (tasan), sitten 2\n"
    "Lähtö 2 katsoo eniten 2 ja 4 (tasan), sitten 1 ja 3\nLähtö 3 kuten 1\n"
    "Lähtö 4 katsoo eniten 4, sitten muut tasan",
    "Kimenet 1: legjobban 1, 3 és 4 (egyforma), utána 2\nKimenet 2: legjobban 2 és 4, utána 1 és "
    "3\nKimenet 3: ugyanaz, mint az 1\nKimenet 4: legjobban 4, utána 1, 2 és 3 holtversenyben",
    "Đầu ra 1 chú ý nhiều nhất đến 1, 3 và 4 (bằng nhau), sau đó 2\nĐầu ra 2 chú ý nhiều nhất đến "
    "2 và 4, sau đó 1 và 3\nĐầu ra 3 giống đầu ra 1\n"
    "Đầu ra 4 chú ý nhiều nhất đến 4, sau đó 1, 2, 3",
    "आउटपुट 1 सबसे ज़्यादा 1, 3 और 4 (बराबर) को देखता है, फिर 2\n"
    "आउटपुट 2 सबसे ज़्यादा 2 और 4 (बराबर) को, फिर 1 और 3\nआउटपुट 3, आउटपुट 1 जैसा ही है\n"
    "आउटपुट 4 सबसे ज़्यादा 4 को, फिर 1, 2, 3 बराबर",
]
"""One map of four tokens, in which most weights tie."""

IN_UNKNOWN_WORDS = [
    "Output 1 attends most to {}, then {}.\nOutput 2 attends most to {}, then {}.\n"
    "Output 3 attends most to {}, then {}.",
    "1 -> {} ({})\n2 -> {} ({})\n3 -> {} ({})",
    "out 1: most {}, second {}\nout 2: most {}, second {}\nout 3: most {}, second {}",
    "Výstup 1: nejvíc {}, pak {}\nVýstup 2: nejvíc {}, pak {}\nVýstup 3: nejvíc {}, pak {}",
    "Sortida 1: sobretot {}, després {}\nSortida 2: sobretot {}, després {}\n"
    "Sortida 3: sobretot {}, després {}",
    "Iteriad 1: beriad {}, noriad {}. Iteriad 2: beriad {}, noriad {}. Iteriad 3: beriad {}, "
    "noriad {}.",
]
"""Statements of three outputs, with room for the first and the second input of each."""

IN_KNOWN_WORDS = [
    "Output {o} attends most to input {m}, second to input {s}.",
    "Output {o} attends most to input {m}, then to input {s}.",
    "Output {o}: input {m} first, input {s} second",
    "Output {o}: second is input {s}, most is input {m}.",
    "output {o} --> input {m} (solid), input {s} (dashed)",
    "Row {o}: the largest weight is at {m}, the second largest at {s}",
    "Ausgabe {o} achtet am meisten auf Eingabe {m}, dann auf Eingabe {s}.",
    "La sortie {o} regarde surtout l'entrée {m}, puis l'entrée {s}.",
    "A saída {o} atende mais à entrada {m}, depois à entrada {s}.",
    "Wyjście {o} patrzy najbardziej na wejście {m}, potem na wejście {s}.",
    "Çıktı {o} en çok girdi {m}'e bakıyor, sonra girdi {s}'e.",
    "输出{o}最关注输入{m}，其次是输入{s}。",
    "出力{o}は入力{m}に最も注目し、次に入力{s}に注目する。",
]
"""A line of a map whose words rank the inputs."""

REMARKS = [
    "1 ignores 2\n2 ignores 3\n3 ignores 1",
    "Output 1 attends least to input 2, output 2 least to input 3, output 3 least to input 1.",
    "Output 1 does not attend to input 2. Output 2 does not attend to input 3.",
    "Problem 1: 2 points, Problem 2: 2 points, Problem 3: 2 points",
    "o1 uses a1, o2 uses a2, o3 uses a3",
    "Check: each row of A sums to 1 (row 2: 0.11 + 0.81 + 0.08 = 1.00).",
    "Row 1 points to a mistake in row 2.",
    "Output 2 looks wrong to me because of input 1.",
    "Output 1 corresponds to input 1, output 2 corresponds to input 2, output 3 to input 3.",
]
"""Lines below the weights that state no map."""
