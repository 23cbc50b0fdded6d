# The equations of attncalc, one for each operation:
#
#     Name(inputs): result[indices] = expression of one entry
#
# An input with ? may be missing, and of one with * there may be any number; one with + is never
# negative, and rows of one with % are shares. {b|...} is kept where b is given, {!b|...} where it is
# not. Axes before those named (heads, a family of problems) are carried along. `+x` is shown as a
# number in the second form of the work, `why(x, "...")` adds a remark, and in `first == second` the
# second is computed and both are shown. Behind `where` are abbreviations, and behind `~` is the
# matrix notation, if it does not follow from the equation; `paper` names its source. `back X: MeanBack(dY; d = columns(X))`
# is what makes the gradient of X: an equation, what that reads (inputs, the result Y, its gradient
# dY; - for an optional input that is not given), and sizes. Flags and settings are passed on. Which
# of its sums are over heads, or rows, follows from the shape of X: see `Statement.summing`.

# Products of matrices
Project(X, W, b?):        Y[i in n, o in w] = sum(X[i,a] * W[a,o] for a in d){b| + b[0,o]}
    paper Vaswani et al., Attention Is All You Need (2017)
    back X: TimesTransposed(dY, W)
    back W: TransposedTimes(X, dY)
    back b: SumTo(dY)
ProjectTurned(X, W, b?):  Y[i in n, o in w] = sum(X[i,a] * W[o,a] for a in d){b| + b[0,o]}
    back X: Project(dY, W, -)
    back W: TransposedTimes(dY, X)
    back b: SumTo(dY)
Scores(Q, K):             S[i in n, j in m] = sum(Q[i,c] * K[j,c] for c in d)
    paper Vaswani et al., Attention Is All You Need (2017)
    back Q: Weigh(dS, K)
    back K: TransposedTimes(dS, Q)
GroupedScores(Q, K):      S[h in H, i in n, j in m] = sum(Q[h,i,c] * K[h // (H // heads(K)),j,c] for c in d)
    paper Ainslie et al., GQA (2023)
    back Q: GroupedWeigh(dS, K)
    back K: TransposedTimes(dS, Q)
Weigh(A, V):              O[i in n, c in w] = sum(A[i,j] * V[j,c] for j in m)
    paper Vaswani et al., Attention Is All You Need (2017)
    back A: Scores(dO, V)
    back V: TransposedTimes(A, dO)
GroupedWeigh(A, V):       O[h in H, i in n, c in w] = sum(A[h,i,j] * V[h // (H // heads(V)),j,c] for j in m)
    paper Ainslie et al., GQA (2023)
    back A: GroupedScores(dO, V)
    back V: TransposedTimes(A, dO)

# Other scores
AdditiveScores(Q, K, v, b?):   S[i in n, j in m] = sum(v[0,c] * +tanh(Q[i,c] + K[j,c]{b| + b[0,c]}) for c in d)  ~ v.T // tanh(Q + K{b| + b})
    paper Bahdanau et al., Neural Machine Translation by Jointly Learning to Align and Translate (2015)
    back Q: AdditiveBackQ(Q, K, v, b?, dS)
    back K: AdditiveBackK(Q, K, v, b?, dS)
    back v: AdditiveBackV(Q, K, v, b?, dS)
    back b: AdditiveBackB(Q, K, v, b?, dS)
ConcatScores(Q, K, W, v, b?):  S[i in n, j in m] = sum(v[0,c] * +tanh(+(sum(Q[i,a] * {!turned|W[a,c]}{turned|W[c,a]} for a in columns(Q)) + sum(K[j,a] * {!turned|W[a + columns(Q),c]}{turned|W[c,a + columns(Q)]} for a in columns(K)){b| + b[0,c]})) for c in d)
    ~ v.T // tanh([Q, K] @ {!turned|W}{turned|W.T}{b| + b})
    paper Luong et al., Effective Approaches to Attention-based Neural Machine Translation (2015)
    back Q: ConcatBackQ(Q, K, W, v, b?, dS)
    back K: ConcatBackK(Q, K, W, v, b?, dS)
    back W: ConcatBackW(Q, K, W, v, b?, dS)
    back v: ConcatBackV(Q, K, W, v, b?, dS)
    back b: ConcatBackB(Q, K, W, v, b?, dS)
DistanceScores(Q, K):          S[i in n, j in m] = -(+sum((Q[i,c] - K[j,c]) ** 2 for c in d) / 2)  ~ -(norm(Q - K) ** 2 / 2)
    paper Kim et al., The Lipschitz Constant of Self-Attention (2021)
    back Q: DistanceBackQ(Q, K, dS)
    back K: DistanceBackK(Q, K, dS)

# Entry by entry: scale, cap, mask, bias by distance
DivideBySqrt(X):          Y[i in n, j in m] = X[i,j] / sqrt(d_k)
    paper Vaswani et al., Attention Is All You Need (2017)
    back X: DivideBySqrt(dY)
Multiply(X):              Y[i in n, j in m] = X[i,j] * factor
    back X: Multiply(dY)
MultiplyEach(X):          Y[i in n, j in m] = X[i,j] * each[0,0]  ~ X * each
SoftCap(X):               Y[i in n, j in m] = cap * +tanh(X[i,j] / cap)
    paper Gemma Team, Gemma 2 (2024)
    back X: SoftCapBack(Y, dY)
Mask(S, keep?, ignore?, bias?):
    M[i in n, j in m] = {causal|why(-inf, "forbidden by causal") if j >= i + first else
    }{window|why(-inf, "forbidden by window") if j < i + first - window else
    }{ahead|why(-inf, "forbidden by window") if j >= i + first or j < i + first - window else
    }{keep|why(-inf, "forbidden by keep") if not keep[i,j] else
    }{ignore|why(-inf, "forbidden by ignore") if ignore[i,j] else
    }{bias|why(-inf, "forbidden by bias") if bias[i,j] == -inf else
    }{bias|S[i,j] + bias[i,j]}{!bias|+S[i,j]}
    ~ S{bias| + bias} if "{causal|causal,}{window|in window,}{ahead|in window,}{keep|keep,}{ignore|not ignore,}" else -inf
    paper Vaswani et al., Attention Is All You Need (2017); windows: Beltagy et al., Longformer (2020)
    back S: MaskBack(dM, keep?, ignore?, bias?)
    back keep: none
    back ignore: none
    back bias: SumTo(dM)
Alibi(S, slope):          M[i in n, j in m] = S[i,j] - slope[0,0] * abs(i + place - j)  ~ S - slope % "distance"
    paper Press et al., Train Short, Test Long (2022)
    back S: Same(dM)
    back slope: SlopeBack(dM)
RelativeBias(S, table):
    M[{heads|h in H, }i in n, j in m] = why(why(why(S[{heads|h,}i,j] + {!stands|table[{heads|h,}0,slot]}{stands|{rows|table[slot,{heads|h}{!heads|0}]}{!rows|table[{heads|h}{!heads|0},slot]}},
    "bucket {slot + 1} of {buckets}: the key stands {gap} before", gap > 0),
    "bucket {slot + 1} of {buckets}: the key stands {-gap} behind", gap < 0),
    "bucket {slot + 1} of {buckets}: the key stands at its place")
    where slot = sum(1 for s in columns(starts) if starts[0,s] <= {both|abs(gap)}{!both|gap}){both| + (columns(starts) + 1 if gap < 0 else 0)}
    where gap = i + place - j
    ~ S + table
    paper Raffel et al., T5 (2020)
    back S: Same(dM)
    back table: BucketBack(dM)

# Positions
Sinusoids(X):             P[i in rows(X), j in columns(X)] = cos(angle) if j % 2 == 1 else sin(angle)
    where angle = i + offset if j // 2 == 0 else (i + offset) / base ** (2 * (j // 2) / columns(X))
    ~ "sin, cos"("t" / base ** ("2i" / d))
    paper Vaswani et al., Attention Is All You Need (2017)
    back X: none
Rotate(X, own?):
    Y[i in n, j in d] = {part|why(+X[i,j], "the first {width} columns alone are rotated") if j >= width else }
    {linear|why(}{llama|why(why(}turned{linear|, "its frequency is divided by {factor}")}
    {llama|, "its frequency is divided by {factor}", turns <= low), "its frequency is divided in part (llama3)", low < turns and turns < high)}
    where turned = {grown|grown * +}(first if is_first else second)
    where first = {!back|X[i,j] * +cos(angle) - X[i,j + step] * +sin(angle)}{back|X[i,j + step] * +sin(angle) + X[i,j] * +cos(angle)}
    where second = {!back|X[i,j - step] * +sin(angle) + X[i,j] * +cos(angle)}{back|X[i,j] * +cos(angle) - X[i,j - step] * +sin(angle)}
    where angle = {own|(i + offset) * own[0,pair]}{linear|plain / factor}{llama|plain / factor if turns <= low
    else plain * (kept + rest * ((turns - low) / (high - low))) if turns < high else plain}{plain|plain}
    where turns = {llama|original / (2 * pi) if pair == 0 else original / (2 * pi * slowness)}
    where plain = i + offset if pair == 0 else (i + offset) / slowness
    where slowness = base ** (2 * pair / width)
    where pair = {halves|j % (width // 2)}{!halves|j // 2}
    where is_first = {halves|j < width // 2}{!halves|j % 2 == 0}
    where step = {halves|width // 2}{!halves|1}
    ~ {grown|grown // }{!back|rope(X)}{back|"rope^-1"(X)}
    paper Su et al., RoFormer (2021)

# Rows of scores to rows of weights
Softmax(S, sink?):        A[i in n, j in m] = softmax({sink|(}S[i,k] for k in m{sink|), sink[0,0]})[j]  ~ {sink|exp(S) / (sum(exp(S)) + exp(sink))}{!sink|softmax(S)}
    paper Bridle, Probabilistic Interpretation of Feedforward Classification Network Outputs (1990); sinks: OpenAI, gpt-oss (2025)
    back S: SoftmaxBack(A, dA)
    back sink: SinkBack(A, dA)
HardMax(S):               A[i in n, j in m] = hardmax(S[i,k] for k in m)[j]
DivideBySum(S):           A[i in n, j in m] = share(S[i,k] for k in m)[j]  ~ S / sum(S)
    back S: DivideBySumBack(S, A, dA)

# Normalization
FeatureMean(X):           mu[i in n, z in 1] = sum(X[i,c] for c in d) / d
    paper Ba et al., Layer Normalization (2016)
    back X: MeanBack(dmu; d = columns(X))
FeatureVariance(X, mu):   var[i in n, z in 1] = sum((X[i,c] - mu[i,0]) ** 2 for c in d) / (d - ddof)
    ~ {!sample|mean((X - mu) ** 2)}{sample|sum((X - mu) ** 2) / (d - ddof)}
    paper Ba et al., Layer Normalization (2016)
    back X: VarianceBack(X, mu, dvar)
    back mu: none
FeatureSquares(X):        ms[i in n, z in 1] = sum(X[i,c] ** 2 for c in d) / d
    paper Zhang and Sennrich, Root Mean Square Layer Normalization (2019)
    back X: SquaresBack(X, dms)
HeadsSquares(X):          ms[h in H, i in n, z in 1] = sum(X[k,i,c] ** 2 for k in H for c in d) / (H * d)  ~ mean(X ** 2)
    paper Zhang and Sennrich, Root Mean Square Layer Normalization (2019)
    back X: HeadsSquaresBack(X, dms)
Normalise(X, mean?, var+, gain?, bias?):
    N[i in n, c in d] = {gain|gain[0,c] * (}{mean|+(X[i,c] - mean[i,0])}{!mean|+(+X[i,c])}
    / {!eps|+sqrt(var[i,0])}{eps|{inside|+sqrt(var[i,0] + eps)}{!inside|+(sqrt(var[i,0]) + eps)}}{gain|)}{bias| + bias[0,c]}
    paper Ba et al., Layer Normalization (2016)
    back X: QuotientBack(var, gain?, dN)
    back mean: CentreBack(var, gain?, dN)
    back var: SpreadBack(X, mean?, var, gain?, dN)
    back gain: GainBack(X, mean?, var, dN)
    back bias: SumTo(dN)

# Activations and gates
ReLU(X):                  Y[i in n, j in m] = why(relu(X[i,j]), "a negative number becomes 0") if X[i,j] < 0 else relu(X[i,j])  ~ ReLU(X)
    paper Nair and Hinton, Rectified Linear Units Improve Restricted Boltzmann Machines (2010)
    back X: ReLUBack(X, -, dY)
ReLU2(X):                 Y[i in n, j in m] = why(relu(X[i,j]) ** 2, "a negative number becomes 0") if X[i,j] < 0 else relu(X[i,j]) ** 2  ~ ReLU(X) ** 2
    paper So et al., Primer (2021)
    back X: ReLU2Back(X, -, dY)
GELU(X):                  Y[i in n, j in m] = X[i,j] * +Phi(X[i,j])  ~ GELU(X)
    paper Hendrycks and Gimpel, Gaussian Error Linear Units (2016)
    back X: GELUBack(X, -, dY)
GELUtanh(X):              Y[i in n, j in m] = half * X[i,j] * +(1 + tanh(sqrt(2 / pi) * (X[i,j] + cube * X[i,j] ** 3)))  ~ GELU(X)
    paper Hendrycks and Gimpel, Gaussian Error Linear Units (2016)
    back X: GELUtanhBack(X, -, dY)
GELUquick(X):             Y[i in n, j in m] = X[i,j] / +(1 + exp(-(slope * X[i,j])))  ~ GELU(X)
    paper Hendrycks and Gimpel, Gaussian Error Linear Units (2016)
    back X: GELUquickBack(X, -, dY)
SiLU(X):                  Y[i in n, j in m] = X[i,j] / +(1 + exp(-X[i,j]))  ~ SiLU(X)
    paper Elfwing et al., Sigmoid-Weighted Linear Units (2018)
    back X: SiLUBack(X, -, dY)
Tanh(X):                  Y[i in n, j in m] = tanh(X[i,j])
    back X: TanhBack(X, -, dY)
GatedReLU(X, G):          Y[i in n, j in m] = why(+relu(X[i,j]) * G[i,j], "a negative number becomes 0") if X[i,j] < 0 else +relu(X[i,j]) * G[i,j]
    ~ ReLU(X) * G
    paper Shazeer, GLU Variants Improve Transformer (2020)
    back X: ReLUBack(X, G, dY)
    back G: GatedReLU(X, dY)
GatedReLU2(X, G):         Y[i in n, j in m] = why(+relu(X[i,j]) ** 2 * G[i,j], "a negative number becomes 0") if X[i,j] < 0 else +relu(X[i,j]) ** 2 * G[i,j]
    ~ ReLU(X) ** 2 * G
    paper So et al., Primer (2021); gates: Shazeer, GLU Variants Improve Transformer (2020)
    back X: ReLU2Back(X, G, dY)
    back G: GatedReLU2(X, dY)
GatedGELU(X, G):          Y[i in n, j in m] = gelu(X[i,j]) * G[i,j] == +(X[i,j] * Phi(X[i,j])) * G[i,j]  ~ GELU(X) * G
    paper Shazeer, GLU Variants Improve Transformer (2020)
    back X: GELUBack(X, G, dY)
    back G: GatedGELU(X, dY)
GatedGELUtanh(X, G):      Y[i in n, j in m] = gelu(X[i,j]) * G[i,j] == +(half * X[i,j] * (1 + tanh(sqrt(2 / pi) * (X[i,j] + cube * X[i,j] ** 3)))) * G[i,j]
    ~ GELU(X) * G
    paper Shazeer, GLU Variants Improve Transformer (2020)
    back X: GELUtanhBack(X, G, dY)
    back G: GatedGELUtanh(X, dY)
GatedGELUquick(X, G):     Y[i in n, j in m] = gelu(X[i,j]) * G[i,j] == +(X[i,j] / (1 + exp(-(slope * X[i,j])))) * G[i,j]  ~ GELU(X) * G
    paper Shazeer, GLU Variants Improve Transformer (2020)
    back X: GELUquickBack(X, G, dY)
    back G: GatedGELUquick(X, dY)
GatedTanh(X, G):          Y[i in n, j in m] = +tanh(X[i,j]) * G[i,j]
    paper Shazeer, GLU Variants Improve Transformer (2020)
    back X: TanhBack(X, G, dY)
    back G: GatedTanh(X, dY)
GatedSiLU(X, G):          Y[i in n, j in m] = silu(X[i,j]) * G[i,j] == +(X[i,j] / (1 + exp(-X[i,j]))) * G[i,j]  ~ SiLU(X) * G
    paper Shazeer, GLU Variants Improve Transformer (2020)
    back X: SiLUBack(X, G, dY)
    back G: GatedSiLU(X, dY)

GatedClampedSwish(X, G):  Y[i in n, j in m] = +gate * +sigmoid(alpha * gate) * +(up + 1)
    where gate = min(X[i,j], limit)
    where up = max(min(G[i,j], limit), -limit)
    ~ X // sigmoid(alpha // X) * (G + 1)
    paper OpenAI, gpt-oss (2025)

# Experts: a router's shares, of the chosen experts alone, and what these give
TopK(P, by?):             Y[i in n, e in m] = P[i,e] if place < kept else why(0, "not among the {kept} largest")
    where place = sum(1 for f in m if {by|by}{!by|P}[i,f] > {by|by}{!by|P}[i,e] or ({by|by}{!by|P}[i,f] == {by|by}{!by|P}[i,e] and f < e))
    ~ "top {kept}"(P)
    paper Shazeer et al., Outrageously Large Neural Networks (2017)
    back P: TopKBack(P, by?, dY)
    back by: none
GroupScores(P):           T[i in n, g in groups] = sum(P[i,f] if place < best else 0 for f in m if f // (columns(P) // groups) == g)
    where place = sum(1 for h in m if h // (columns(P) // groups) == g and (P[i,h] > P[i,f] or (P[i,h] == P[i,f] and h < f)))
    ~ "Σ_group"("top {best}"(P))
    back P: none
LimitGroups(P, T):        Y[i in n, e in m] = P[i,e] if place < kept else why(-max(-P[i,f] for f in m) - 1, "not in one of the {kept} best groups: below all others")
    where place = sum(1 for g in columns(T) if T[i,g] > T[i,own] or (T[i,g] == T[i,own] and g < own))
    where own = e // (columns(P) // columns(T))
    ~ P if "in the best {kept} groups" else min(P) - 1
    paper DeepSeek-AI, DeepSeek-V2 (2024)
    back P: none
    back T: none
Sigmoid(X):               Y[i in n, j in m] = 1 / +(1 + exp(-X[i,j]))
    back X: SigmoidBack(Y, dY)
MixExperts(A, F):         Y[i in n, c in w] = sum(A[i,h] * F[h,i,c] for h in H)  ~ "Σ_experts"(A * F)
    paper Shazeer et al., Outrageously Large Neural Networks (2017)
    back A: MixBackA(F, dY)
    back F: MixBackF(A, dY)
ScaleForExperts(A, X):    Y[h in columns(A), i in n, c in d] = A[i,h] * X[i,c]  ~ A * X
    paper Meta AI, Llama 4 (2025)
    back A: MixBackA(dY, X)
    back X: MixExperts(A, dY)
SumExperts(F):            Y[i in n, c in w] = sum(F[h,i,c] for h in H)  ~ "Σ_experts"(F)
    back F: SpreadToExperts(dY; heads = heads(F))
GateRows(g, X):           Y[i in n, c in w] = +sigmoid(g[i,0]) * X[i,c]
    back g: GateRowsBack(g, X, dY)
    back X: GateRows(g, dY)

# Matrices put together and taken apart
Add(a, b, more*):         Y[i in n, j in m] = a[i,j] + b[i,j]{more*| + more[i,j]}
    paper residuals: He et al., Deep Residual Learning for Image Recognition (2016)
Concat(X):                Y[i in n, x in heads(X) * columns(X)] = X[x // columns(X),i,x % columns(X)]  ~ concat(X)
    paper Vaswani et al., Attention Is All You Need (2017)
    back X: SplitHeads(dY; heads = heads(X))
Mean(X):                  Y[i in n, c in w] = sum(X[h,i,c] for h in H) / H
    back X: ShareAmongHeads(dY; heads = heads(X))
Stack(a, b):              Y[i in rows(a) + rows(b), c in d] = a[i,c] if i < rows(a) else b[i - rows(a),c]  ~ [a, b]
    back a: TakeRows(dY; start = 0, stop = rows(a))
    back b: TakeRows(dY; start = rows(a), stop = rows(a) + rows(b))
JoinColumns(a, b):        Y[i in n, c in columns(a) + columns(b)] = a[i,c] if c < columns(a) else b[i,c - columns(a)]  ~ [a, b]
    back a: TakeColumns(dY; start = 0, stop = columns(a))
    back b: TakeColumns(dY; start = columns(a), stop = columns(a) + columns(b))
Same(X):                  Y[i in n, j in m] = X[i,j]
    back X: Same(dY)
Given(X):                 Y[i in n, j in m] = why(+X[i,j], "given")  ~ given(X)
    back X: none
Patches(image):
    Y[t in (rows(image) // p) * (columns(image) // q), x in {channels|heads(image) * }p * q] = why(image[{channels|ch,}pr * p + ir,pc * q + ic],
    "patch r{pr + 1}c{pc + 1}: its row {ir + 1}, column {ic + 1}{channels| of channel {ch + 1}}")
    where ch = x // of_channel % heads(image) where ir = x // of_row % p where ic = x // of_column % q
    where pr = t // of_down % (rows(image) // p) where pc = t // of_across % (columns(image) // q)
    ~ flatten(image)
    paper Dosovitskiy et al., An Image is Worth 16x16 Words (2021)
    back image: PatchesBack(dY; H = rows(image), W = columns(image){channels|, channels = heads(image)})
TakeFirst(X):             Y[z in 1, c in d] = X[0,c]  ~ first(X)
    back X: PlaceFirst(dY; n = rows(X))
TakeLast(X):              Y[z in 1, c in d] = X[rows(X) - 1,c]  ~ last(X)
    back X: PlaceLast(dY; n = rows(X))
TokenMean(X):             Y[z in 1, c in d] = sum(X[i,c] for i in n) / n
    back X: ShareAmongRows(dY; n = rows(X))
Lookup(ids, table):       Y[i in n, c in d] = why(table[ids[0,i] - first,c], "row {ids[0,i] - first + 1} is that of id {ids[0,i]}")
    ~ onehot(ids) @ table
    back ids: none
    back table: GatherRows(ids, dY; v = rows(table))

# Losses, and a step against the gradient
HalfSquares(a, b):        L[y in 1, z in 1] = sum((a[{heads|h,}i,j] - b[{heads|h,}i,j]) ** 2{heads| for h in H} for i in n for j in m) / 2
CrossEntropy(prob%):      L[y in 1, z in 1] = sum(-log(prob[i,ids[0,i]]) for i in n)  ~ -sum("log of target"(prob))
Total(a):                 L[y in 1, z in 1] = sum(a[{heads|h,}i,j]{heads| for h in H} for i in n for j in m)
TotalProduct(a, G):       L[y in 1, z in 1] = sum(G[{heads|h,}i,j] * a[{heads|h,}i,j]{heads| for h in H} for i in n for j in m)
Ones(a):                  Y[{heads|h in heads(a), }i in rows(a), j in columns(a)] = 1
LessOneHot(prob):         Y[i in n, j in m] = prob[i,j] - (1 if ids[0,i] == j else 0)  ~ prob - onehot("target_ids")
Difference(a, b):         Y[i in n, j in m] = a[i,j] - b[i,j]
Descend(W, G):            Y[i in n, j in m] = {!heads|{!turned|W[i,j]}{turned|W[j,i]}}{heads|{!turned|W[i,0,j]}{turned|W[j,0,i]}} - rate * G[i,j]
    ~ W{turned|.stored} - rate // G

# Training: the mean of a batch, the gradient's norm, clipping, weight decay, momentum, and Adam
BatchMean(a, more*):          Y[i in n, j in m] = (a[i,j]{more*| + more[i,j]}) / count
Norm(G):                  Y[y in 1, z in 1] = sqrt(sum(G[i,j] ** 2 for i in n for j in m))
Clip(G, N):               Y[i in n, j in m] = G[i,j] * limit / (N[0,0] + eps)
    paper Pascanu et al., On the Difficulty of Training Recurrent Neural Networks (2013)
Decay(G, W):              Y[i in n, j in m] = G[i,j] + decay * W[i,j]
Momentum(G, V):           Y[i in n, j in m] = beta * V[i,j] + G[i,j]
    paper Polyak, Some Methods of Speeding Up the Convergence of Iteration Methods (1964)
FirstMoment(G, M):        Y[i in n, j in m] = first * M[i,j] + (1 - first) * G[i,j]
SecondMoment(G, V):       Y[i in n, j in m] = second * V[i,j] + (1 - second) * G[i,j] ** 2
AdamStep(W, M, V):        Y[i in n, j in m] = {shrinks|(1 - rate * decay) * }W[i,j] - rate * (M[i,j] / (1 - first ** t)) / (sqrt(V[i,j] / (1 - second ** t)) + eps)
    paper Kingma and Ba, Adam (2015); Loshchilov and Hutter, Decoupled Weight Decay Regularization (2019)

# Gradients in the form that is taught; the derived gradient is the test of each
TransposedTimes(X, G):
    Y[{grouped|g in heads(X) // sharing, }a in d, o in w] = sum({!turned|X[{heads|h,}{grouped|g * sharing + h,}i,a] * G[{heads|h,}{grouped|g * sharing + h,}i,o]}{turned|G[{heads|h,}{grouped|g * sharing + h,}i,a] * X[{heads|h,}{grouped|g * sharing + h,}i,o]}{heads| for h in H}{grouped| for h in sharing} for i in n)
TimesTransposed(G, W):
    Y[{grouped|g in heads(G) // sharing, }i in n, a in d] = sum(G[{heads|h,}{grouped|g * sharing + h,}i,o] * W[{heads|h,}{grouped|g * sharing + h,}a,o]{heads| for h in H}{grouped| for h in sharing} for o in w)
SumTo(G):                 Y[{grouped|g in heads(G) // sharing, }{rows|z in 1}{!rows|i in n}, j in m] = {one|+G[i,j]}{!one|sum(G[{heads|h,}{grouped|g * sharing + h,}i,j]{heads| for h in H}{grouped| for h in sharing}{rows| for i in n})}
AdditiveBackQ(Q, K, v, b?, G):
    dQ[{grouped|g in heads(G) // sharing, }i in n, c in d] = sum(G[{heads|h,}{grouped|g * sharing + h,}i,j] * v[{heads|h,}{grouped|g * sharing + h,}0,c] * (1 - (+t) ** 2){heads| for h in H}{grouped| for h in sharing} for j in m)
    where t = tanh(Q[{heads|h,}{grouped|g * sharing + h,}i,c] + K[{heads|h,}{grouped|g * sharing + h,}j,c]{b| + b[{heads|h,}{grouped|g * sharing + h,}0,c]})
    ~ "Σ_keys"(G * v.T * (1 - tanh(Q + K{b| + b}) ** 2))
AdditiveBackK(Q, K, v, b?, G):
    dK[{grouped|g in heads(G) // sharing, }j in m, c in d] = sum(G[{heads|h,}{grouped|g * sharing + h,}i,j] * v[{heads|h,}{grouped|g * sharing + h,}0,c] * (1 - (+t) ** 2){heads| for h in H}{grouped| for h in sharing} for i in n)
    where t = tanh(Q[{heads|h,}{grouped|g * sharing + h,}i,c] + K[{heads|h,}{grouped|g * sharing + h,}j,c]{b| + b[{heads|h,}{grouped|g * sharing + h,}0,c]})
    ~ "Σ_queries"(G * v.T * (1 - tanh(Q + K{b| + b}) ** 2))
AdditiveBackV(Q, K, v, b?, G):
    dv[{grouped|g in heads(G) // sharing, }z in 1, c in d] = sum(G[{heads|h,}{grouped|g * sharing + h,}i,j] * +t{heads| for h in H}{grouped| for h in sharing} for i in n for j in m)
    where t = tanh(Q[{heads|h,}{grouped|g * sharing + h,}i,c] + K[{heads|h,}{grouped|g * sharing + h,}j,c]{b| + b[{heads|h,}{grouped|g * sharing + h,}0,c]})
    ~ sum(G * tanh(Q + K{b| + b}))
AdditiveBackB(Q, K, v, b?, G):
    db[{grouped|g in heads(G) // sharing, }z in 1, c in d] = sum(G[{heads|h,}{grouped|g * sharing + h,}i,j] * v[{heads|h,}{grouped|g * sharing + h,}0,c] * (1 - (+t) ** 2){heads| for h in H}{grouped| for h in sharing} for i in n for j in m)
    where t = tanh(Q[{heads|h,}{grouped|g * sharing + h,}i,c] + K[{heads|h,}{grouped|g * sharing + h,}j,c]{b| + b[{heads|h,}{grouped|g * sharing + h,}0,c]})
    ~ sum(G * v.T * (1 - tanh(Q + K{b| + b}) ** 2))
ConcatBackQ(Q, K, W, v, b?, G):
    dQ[{grouped|g in heads(G) // sharing, }i in n, e in columns(Q)] = sum(G[{heads|h,}{grouped|g * sharing + h,}i,j] * v[{heads|h,}{grouped|g * sharing + h,}0,c] * (1 - (+t) ** 2) * W[{heads|h,}{grouped|g * sharing + h,}e,c]{heads| for h in H}{grouped| for h in sharing} for j in m for c in d)
    where t = tanh(sum(Q[{heads|h,}{grouped|g * sharing + h,}i,a] * W[{heads|h,}{grouped|g * sharing + h,}a,c] for a in columns(Q)) + sum(K[{heads|h,}{grouped|g * sharing + h,}j,a] * W[{heads|h,}{grouped|g * sharing + h,}a + columns(Q),c] for a in columns(K)){b| + b[{heads|h,}{grouped|g * sharing + h,}0,c]})
    ~ "Σ_keys"(G * v.T * (1 - tanh([Q, K] @ W{b| + b}) ** 2)) @ W.T
ConcatBackK(Q, K, W, v, b?, G):
    dK[{grouped|g in heads(G) // sharing, }j in m, e in columns(K)] = sum(G[{heads|h,}{grouped|g * sharing + h,}i,j] * v[{heads|h,}{grouped|g * sharing + h,}0,c] * (1 - (+t) ** 2) * W[{heads|h,}{grouped|g * sharing + h,}e + columns(Q),c]{heads| for h in H}{grouped| for h in sharing} for i in n for c in d)
    where t = tanh(sum(Q[{heads|h,}{grouped|g * sharing + h,}i,a] * W[{heads|h,}{grouped|g * sharing + h,}a,c] for a in columns(Q)) + sum(K[{heads|h,}{grouped|g * sharing + h,}j,a] * W[{heads|h,}{grouped|g * sharing + h,}a + columns(Q),c] for a in columns(K)){b| + b[{heads|h,}{grouped|g * sharing + h,}0,c]})
    ~ "Σ_queries"(G * v.T * (1 - tanh([Q, K] @ W{b| + b}) ** 2)) @ W.T
ConcatBackW(Q, K, W, v, b?, G):
    dW[{grouped|g in heads(G) // sharing, }e in columns(Q) + columns(K), c in d] = sum(G[{heads|h,}{grouped|g * sharing + h,}i,j] * v[{heads|h,}{grouped|g * sharing + h,}0,c] * (1 - (+t) ** 2) * (Q[{heads|h,}{grouped|g * sharing + h,}i,e] if e < columns(Q) else K[{heads|h,}{grouped|g * sharing + h,}j,e - columns(Q)]){heads| for h in H}{grouped| for h in sharing} for i in n for j in m)
    where t = tanh(sum(Q[{heads|h,}{grouped|g * sharing + h,}i,a] * W[{heads|h,}{grouped|g * sharing + h,}a,c] for a in columns(Q)) + sum(K[{heads|h,}{grouped|g * sharing + h,}j,a] * W[{heads|h,}{grouped|g * sharing + h,}a + columns(Q),c] for a in columns(K)){b| + b[{heads|h,}{grouped|g * sharing + h,}0,c]})
    ~ [Q, K].T @ sum(G * v.T * (1 - tanh([Q, K] @ W{b| + b}) ** 2))
ConcatBackV(Q, K, W, v, b?, G):
    dv[{grouped|g in heads(G) // sharing, }z in 1, c in d] = sum(G[{heads|h,}{grouped|g * sharing + h,}i,j] * +t{heads| for h in H}{grouped| for h in sharing} for i in n for j in m)
    where t = tanh(sum(Q[{heads|h,}{grouped|g * sharing + h,}i,a] * W[{heads|h,}{grouped|g * sharing + h,}a,c] for a in columns(Q)) + sum(K[{heads|h,}{grouped|g * sharing + h,}j,a] * W[{heads|h,}{grouped|g * sharing + h,}a + columns(Q),c] for a in columns(K)){b| + b[{heads|h,}{grouped|g * sharing + h,}0,c]})
    ~ sum(G * tanh([Q, K] @ W{b| + b}))
ConcatBackB(Q, K, W, v, b?, G):
    db[{grouped|g in heads(G) // sharing, }z in 1, c in d] = sum(G[{heads|h,}{grouped|g * sharing + h,}i,j] * v[{heads|h,}{grouped|g * sharing + h,}0,c] * (1 - (+t) ** 2){heads| for h in H}{grouped| for h in sharing} for i in n for j in m)
    where t = tanh(sum(Q[{heads|h,}{grouped|g * sharing + h,}i,a] * W[{heads|h,}{grouped|g * sharing + h,}a,c] for a in columns(Q)) + sum(K[{heads|h,}{grouped|g * sharing + h,}j,a] * W[{heads|h,}{grouped|g * sharing + h,}a + columns(Q),c] for a in columns(K)){b| + b[{heads|h,}{grouped|g * sharing + h,}0,c]})
    ~ sum(G * v.T * (1 - tanh([Q, K] @ W{b| + b}) ** 2))
DistanceBackQ(Q, K, G):   dQ[{grouped|g in heads(G) // sharing, }i in n, c in d] = sum(G[{heads|h,}{grouped|g * sharing + h,}i,j] * (K[{heads|h,}{grouped|g * sharing + h,}j,c] - Q[{heads|h,}{grouped|g * sharing + h,}i,c]){heads| for h in H}{grouped| for h in sharing} for j in m)  ~ G @ K - rowsum(G) * Q
DistanceBackK(Q, K, G):   dK[{grouped|g in heads(G) // sharing, }j in m, c in d] = sum(G[{heads|h,}{grouped|g * sharing + h,}i,j] * (Q[{heads|h,}{grouped|g * sharing + h,}i,c] - K[{heads|h,}{grouped|g * sharing + h,}j,c]){heads| for h in H}{grouped| for h in sharing} for i in n)  ~ G.T @ Q - colsum(G).T * K
SoftmaxBack(A%, dA):      dS[i in n, j in m] = A[i,j] * (1 - A[i,j]) * dA[i,j] - sum(A[i,j] * A[i,k] * dA[i,k] for k in m if k != j) == A[i,j] * (dA[i,j] - +sum(A[i,k] * dA[i,k] for k in m))
SinkBack(A%, dA):         dsink[y in 1, z in 1] = -sum(+(1 - sum(A[i,k] for k in m)) * +sum(A[i,k] * dA[i,k] for k in m) for i in n)
DivideBySumBack(S, A, dA):
    dS[i in n, j in m] = why(0, "a forbidden score counts as 0") if S[i,j] == -inf
    else +(dA[i,j] - sum(A[i,k] * dA[i,k] for k in m if S[i,k] != -inf)) / +(sum(S[i,k] for k in m if S[i,k] != -inf) if max(S[i,k] for k in m) != -inf else 1)
    ~ (dA - rowsum(A * dA)) / rowsum(S)
SoftCapBack(Y, G):        dX[i in n, j in m] = G[i,j] * (1 - (Y[i,j] / cap) ** 2)
MaskBack(G, keep?, ignore?, bias?):
    dS[i in n, j in m] = {causal|why(0, "forbidden by causal: nothing goes back") if j >= i + first else
    }{window|why(0, "forbidden by window: nothing goes back") if j < i + first - window else
    }{ahead|why(0, "forbidden by window: nothing goes back") if j >= i + first or j < i + first - window else
    }{keep|why(0, "forbidden by keep: nothing goes back") if not keep[i,j] else
    }{ignore|why(0, "forbidden by ignore: nothing goes back") if ignore[i,j] else
    }{bias|why(0, "forbidden by bias: nothing goes back") if bias[i,j] == -inf else
    }+G[i,j]
    ~ G if "{causal|causal,}{window|in window,}{ahead|in window,}{keep|keep,}{ignore|not ignore,}" else 0
SlopeBack(G):             dslope[y in 1, z in 1] = -sum(G[i,j] * abs(i + place - j) for i in n for j in m if i + place != j)
    ~ -sum(G * "distance")
BucketBack(G):
    dtable[b in columns(starts) + 1{both| + columns(starts) + 1}, h in {heads|heads(G)}{!heads|1}] = why(0, "no key stands so far off: bucket {b + 1} of {buckets}") if count == 0
    else why(sum(G[{heads|h,}i,j] for i in n for j in m if slot == b), "bucket {b + 1} of {buckets}")
    where count = sum(1 for i in n for j in m if slot == b)
    where slot = sum(1 for s in columns(starts) if starts[0,s] <= {both|abs(gap)}{!both|gap}){both| + (columns(starts) + 1 if gap < 0 else 0)}
    where gap = i + place - j
    ~ sum(G * onehot("bucket"))
MeanBack(G):              dX[i in n, c in d] = G[i,0] / d
VarianceBack(X, mu, G):   dX[i in n, c in d] = G[i,0] * 2 * (X[i,c] - mu[i,0]) / (d - ddof)
    ~ G * (2 // (X - mu)) / {!sample|d}{sample|(d - ddof)}
SquaresBack(X, G):        dX[i in n, c in d] = G[i,0] * 2 * X[i,c] / d
HeadsSquaresBack(X, G):   dX[h in H, i in n, c in d] = sum(G[k,i,0] for k in H) * 2 * X[h,i,c] / (H * d)  ~ "Σ_heads"(G) * 2 // X / (H * d)
QuotientBack(var+, gain?, G):
    dX[i in n, c in d] = {gain|+(gain[0,c] * G[i,c])}{!gain|+(+G[i,c])} / +root
    where root = {!eps|sqrt(var[i,0])}{eps|{inside|sqrt(var[i,0] + eps)}{!inside|sqrt(var[i,0]) + eps}}
CentreBack(var+, gain?, G):
    dmu[i in n, z in 1] = +(-sum({gain|gain[0,c] * }G[i,c] for c in d)) / +root
    where root = {!eps|sqrt(var[i,0])}{eps|{inside|sqrt(var[i,0] + eps)}{!inside|sqrt(var[i,0]) + eps}}
SpreadBack(X, mean?, var+, gain?, G):
    dvar[i in n, z in 1] = +(-sum({gain|gain[0,c] * }G[i,c] * {mean|(X[i,c] - mean[i,0])}{!mean|X[i,c]} for c in d))
    / {!eps|+(2 * sqrt(var[i,0]) ** 3)}{eps|{inside|+(2 * sqrt(var[i,0] + eps) ** 3)}{!inside|+(2 * sqrt(var[i,0]) * (sqrt(var[i,0]) + eps) ** 2)}}
    ~ -rowsum({gain|+(gain * G)}{!gain|G} * {mean|(X - mean)}{!mean|X}) / {!eps|(2 % sqrt(var) ** 3)}{eps|{inside|(2 % sqrt(var + eps) ** 3)}{!inside|(2 % sqrt(var) % (sqrt(var) + eps) ** 2)}}
GainBack(X, mean?, var+, G):
    dgain[z in 1, c in d] = sum(G[{heads|h,}i,c] * +({mean|(X[{heads|h,}i,c] - mean[{heads|h,}i,0])}{!mean|X[{heads|h,}i,c]} / root){heads| for h in H} for i in n)
    where root = ({!eps|sqrt(v)}{eps|{inside|sqrt(v + eps)}{!inside|sqrt(v) + eps}})
    where v = var[{heads|h,}i,0]
    ~ {heads|"Σ_heads"(}colsum(G * {mean|(X - mean)}{!mean|X} / {!eps|sqrt(var)}{eps|{inside|sqrt(var + eps)}{!inside|(sqrt(var) + eps)}}){heads|)}
ReLUBack(X, U?, G):       dX[i in n, j in m] = why(G[i,j] * {U|U[i,j] * }0, "the slope of ReLU is 0 up to 0") if X[i,j] <= 0 else G[i,j] * {U|U[i,j] * }1
    ~ G{U| * U} * "ReLU'"(X)
ReLU2Back(X, U?, G):      dX[i in n, j in m] = G[i,j] * {U|U[i,j] * }2 * relu(X[i,j])  ~ 2 // G{U| * U} * ReLU(X)
GELUBack(X, U?, G):       dX[i in n, j in m] = G[i,j] * {U|U[i,j] * }+(Phi(X[i,j]) + X[i,j] * phi(X[i,j]))  ~ G{U| * U} * "GELU'"(X)
GELUtanhBack(X, U?, G):
    dX[i in n, j in m] = G[i,j] * {U|U[i,j] * }dgelu(X[i,j]) == G[i,j] * {U|U[i,j] * }+((1 + tanh(u)) / 2 + X[i,j] * (1 - tanh(u) ** 2) * (sqrt(2 / pi) * (1 + 3 * cube * X[i,j] ** 2)) / 2)
    where u = sqrt(2 / pi) * (X[i,j] + cube * X[i,j] ** 3)
    ~ G{U| * U} * "GELU'"(X)
GELUquickBack(X, U?, G):
    dX[i in n, j in m] = G[i,j] * {U|U[i,j] * }dgelu(X[i,j]) == G[i,j] * {U|U[i,j] * }+(sigmoid(slope * X[i,j]) * (1 + slope * X[i,j] * (1 - sigmoid(slope * X[i,j]))))
    ~ G{U| * U} * "GELU'"(X)
SiLUBack(X, U?, G):
    dX[i in n, j in m] = G[i,j] * {U|U[i,j] * }(1 / (1 + exp(-X[i,j])) * (1 + X[i,j] * (1 - +sigmoid(X[i,j])))) == G[i,j] * {U|U[i,j] * }+(sigmoid(X[i,j]) * (1 + X[i,j] * (1 - sigmoid(X[i,j]))))
    ~ G{U| * U} * "SiLU'"(X)
TanhBack(X, U?, G):       dX[i in n, j in m] = G[i,j] * {U|U[i,j] * }+(1 - tanh(X[i,j]) ** 2)  ~ G{U| * U} * "tanh'"(X)
SplitHeads(G):            Y[h in heads, i in n, x in columns(G) // heads] = G[i,h * (columns(G) // heads) + x]  ~ heads(G)
ShareAmongHeads(G):       Y[h in heads, i in n, c in d] = G[i,c] / heads
SpreadToExperts(G):       Y[h in heads, i in n, c in d] = G[i,c]
TakeRows(G):              Y[i in stop - start, c in d] = G[i + start,c]  ~ {!rows|"tokens {start + 1} to {stop}"}{rows|"token {stop}"}(G)
PlaceFirst(G):            Y[i in n, c in d] = G[0,c] if i == 0 else why(0, "this token is not read")  ~ G if "it is the first token" else 0
PlaceLast(G):             Y[i in n, c in d] = G[0,c] if i == n - 1 else why(0, "this token is not read")  ~ G if "it is the last token" else 0
ShareAmongRows(G):        Y[i in n, c in d] = G[0,c] / n
GatherRows(ids, G):
    Y[i in v, c in d] = why(0, "no token has id {i + first}") if count == 0 else why(G[sum(t for t in columns(ids) if named),c], "id {i + first} is that of row {i + 1}") if count == 1
    else why(sum(G[t,c] for t in columns(ids) if named), "id {i + first} is that of row {i + 1}")
    where count = sum(1 for t in columns(ids) if named)
    where named = ids[0,t] == i + first
    ~ onehot(ids).T @ G
PatchesBack(G):
    Y[{channels|k in channels, }r in H, s in W] = why(G[r // p * (W // q) + s // q,{channels|k * p * q + }r % p * q + s % q], "patch r{r // p + 1}c{s // q + 1}")
    ~ unflatten(G)
TopKBack(P, by?, G):      dP[i in n, e in m] = G[i,e] if place < kept else why(0, "not among the {kept} largest")
    where place = sum(1 for f in m if {by|by}{!by|P}[i,f] > {by|by}{!by|P}[i,e] or ({by|by}{!by|P}[i,f] == {by|by}{!by|P}[i,e] and f < e))
    ~ G if "top {kept}" else 0
SigmoidBack(Y, G):        dX[i in n, j in m] = G[i,j] * Y[i,j] * +(1 - Y[i,j])
MixBackA(F, G):           dA[i in n, h in heads(F)] = sum(G[i,c] * F[h,i,c] for c in d)  ~ rowsum(G * F)
MixBackF(A, G):           dF[h in columns(A), i in n, c in d] = A[i,h] * G[i,c]  ~ A * G
GateRowsBack(g, X, G):    dg[i in n, z in 1] = sum(G[i,c] * X[i,c] for c in d) * +sigmoid(g[i,0]) * +(1 - sigmoid(g[i,0]))  ~ rowsum(G * X) * "sigmoid'"(g)
TakeColumns(G):           Y[i in n, c in stop - start] = G[i,c + start]  ~ "columns {start + 1} to {stop}"(G)
