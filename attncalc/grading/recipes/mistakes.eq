# Well-known mistakes: what people compute instead of an equation of attention.eq. Below the names
# of its operations, each line is
#
#     code: right-hand side of one entry  # what was done, as a clause
#
# Inputs have their names of attention.eq; the operation's own result is the right one, and other
# matrices are those of the problem. `Z[...] = ...` states another shape. {b|...} is kept where b is
# given, {!b|...} where it is not; the flags of attention.eq hold as well, and those of `_flags` in
# mistakes.py: back (the step is a gradient), layer, outputs, residual, positions, embedded,
# shared, split, several (heads), scaled, tiled, scored, values, token (a class token); and the names
# of tables, which are no inputs. A mistake whose right-hand side is empty does not apply. In a clause, {K} is the name of
# the input, {Q Kᵀ} a product in the layout of the problem, and {d_k} a number.

# Products of matrices
Project
    bias-forgotten: {b|sum(X[i,a] * W[a,o] for a in d)}  # {b} is left out
    bias-subtracted: {b|sum(X[i,a] * W[a,o] for a in d) - b[0,o]}  # {b} is subtracted
    bias-multiplied: {b|sum(X[i,a] * W[a,o] for a in d) * b[0,o]}  # {b} is multiplied, not added
    weights-signless: sum(X[i,a] * abs(W[a,o]) for a in d){b| + b[0,o]}  # the minus signs of {W} are left out
    weights-first: {!split|sum(W[i,a] * X[a,o] for a in d){b| + b[0,o]}}  # {W} is multiplied by {X}, and not {X} by {W}
    heads-interleaved: {split|Z[h in heads(Y), i in rows(Y), x in columns(Y)] = Y[(x * heads(Y) + h) // columns(Y),i,(x * heads(Y) + h) % columns(Y)]}  # the heads alternate column by column, and are not side by side
    heads-viewed: {split|Z[h in heads(Y), i in rows(Y), x in columns(Y)] = Y[(h * rows(Y) + i) % heads(Y),(h * rows(Y) + i) // heads(Y),x]}  # the heads are split by a view alone, without exchanging rows and heads
    unprojected: {!scored|{!split|X[i,o]}{split|Z[h in heads(W), i in rows(X), x in columns(X) // heads(W)] = X[i,h * (columns(X) // heads(W)) + x]}}  # {X} itself is taken for {step}: the product with {W} is left out
    score-weights-forgotten: {scored|X[i,o]}  # {W} is left out
    score-weights-transposed: {scored|sum(X[i,a] * W[o,a] for a in d)}  # {W} is transposed
Scores
    k-not-transposed: {!back|sum(Q[i,c] * K[c,j] for c in d)}  # {K} is not transposed ({Q K})
    scores-transposed: {!back|sum(K[i,c] * Q[j,c] for c in d)}  # {K Qᵀ} is computed, not {Q Kᵀ}: the scores are transposed
    q-q: {!back|sum(Q[i,c] * Q[j,c] for c in d)}  # {Q Qᵀ} is computed, not {Q Kᵀ}
    k-k: {!back|sum(K[i,c] * K[j,c] for c in d)}  # {K Kᵀ} is computed, not {Q Kᵀ}
    q-v: {values|sum(Q[i,c] * V[j,c] for c in d)}  # {Q Vᵀ} is computed, not {Q Kᵀ}
    heads-tiled: {tiled|S[h in heads(Q), i in rows(Q), j in rows(K)] = sum(Q[h,i,c] * K[h % heads(K),j,c] for c in d)}  # the shared heads of {K} are tiled (1, 2, 1, 2), and not repeated (1, 1, 2, 2)
    entrywise: {!back|Q[i,j] * K[i,j]}  # {Q} and {K} are multiplied entry by entry
    transpose-forgotten: {back|sum(Q[i,c] * K[c,j] for c in d)}  # {K} is not transposed: {Q} {K} is computed, not {Q} {K}ᵀ
    product-turned: {back|sum(K[i,c] * Q[j,c] for c in d)}  # {K} {Q}ᵀ is computed, not {Q} {K}ᵀ
Weigh
    heads-tiled: {tiled|O[h in heads(A), i in rows(A), c in columns(V)] = sum(A[h,i,j] * V[h % heads(V),j,c] for j in m)}  # the shared heads of {V} are tiled (1, 2, 1, 2), and not repeated (1, 1, 2, 2)
    weights-turned: sum(A[j,i] * V[j,c] for j in m)  # {!back|{Aᵀ V} is computed, not {A V}}{back|{A} is transposed: {A}ᵀ {V} is computed, not {A} {V}}
    a-x: {!back|sum(A[i,j] * tokens[j,c] for j in m)}  # {A tokens} is computed, not {A V}
    a-k: {!back|sum(A[i,j] * K[j,c] for j in m)}  # {A K} is computed, not {A V}
    a-q: {!back|sum(A[i,j] * Q[j,c] for j in m)}  # {A Q} is computed, not {A V}
    transpose-added: {back|sum(A[i,j] * V[c,j] for j in m)}  # {V} is transposed: {A} {V}ᵀ is computed, not {A} {V}
TransposedTimes
    transpose-forgotten: Z[i in n, c in d] = sum(X[i,a] * G[a,c] for a in m)  # {X} is not transposed: {X} {G} is computed, not {X}ᵀ {G}
    heads-not-added: {shared|{grouped|Z[g in heads(X) // sharing, a in d, o in w] = sum(X[g * sharing,i,a] * G[g * sharing,i,o] for i in n)}{heads|Z[a in d, o in w] = sum(X[0,i,a] * G[0,i,o] for i in n)}}  # the gradients of the heads that share are not added: that of the first is kept
    heads-not-added: {shared|{grouped|Z[g in heads(X) // sharing, a in d, o in w] = sum(X[g * sharing + sharing - 1,i,a] * G[g * sharing + sharing - 1,i,o] for i in n)}{heads|Z[a in d, o in w] = sum(X[sharing - 1,i,a] * G[sharing - 1,i,o] for i in n)}}  # the gradients of the heads that share are not added: that of the last is kept
    heads-averaged: {shared|Z[i in n, j in m] = Y[i,j] / sharing}  # the gradients of the heads that share are averaged, not added
TimesTransposed
    transpose-forgotten: Z[i in n, c in d] = sum(G[i,a] * W[a,c] for a in m)  # {W} is not transposed: {G} {W} is computed, not {G} {W}ᵀ
    product-turned: Z[i in n, c in m] = dX[c,i]  # {W} {G}ᵀ is computed, not {G} {W}ᵀ

# Other scores
DistanceScores
    distance-not-halved: -sum((Q[i,c] - K[j,c]) ** 2 for c in d)  # the squared distance is not halved
    distance-root: -sqrt(sum((Q[i,c] - K[j,c]) ** 2 for c in d))  # the distance itself is taken, and not half its square
    distance-root-halved: -sqrt(sum((Q[i,c] - K[j,c]) ** 2 for c in d)) / 2  # half the distance is taken, and not half its square
    distance-sign: sum((Q[i,c] - K[j,c]) ** 2 for c in d) / 2  # the sign is left out: keys far away get large scores
    distance-sign-not-halved: sum((Q[i,c] - K[j,c]) ** 2 for c in d)  # the sign is left out, and the squared distance is not halved
    dot-for-distance: sum(Q[i,c] * K[j,c] for c in d)  # the dot product is taken, and no distance
    scores-transposed: Z[j in m, i in n] = S[i,j]  # the scores are transposed
AdditiveScores
    tanh-forgotten: sum(v[0,c] * (Q[i,c] + K[j,c]{b| + b[0,c]}) for c in d)  # tanh is left out
    bias-forgotten: {b|sum(v[0,c] * tanh(Q[i,c] + K[j,c]) for c in d)}  # {b} is not added
    v_S-forgotten: sum(tanh(Q[i,c] + K[j,c]{b| + b[0,c]}) for c in d)  # the numbers that tanh gives are added up: {v} is left out
    scores-transposed: Z[j in m, i in n] = S[i,j]  # the scores are transposed
ConcatScores
    tanh-forgotten: sum(v[0,c] * (sum(Q[i,a] * W[a,c] for a in columns(Q)) + sum(K[j,a] * W[a + columns(Q),c] for a in columns(K)){b| + b[0,c]}) for c in d)  # tanh is left out
    bias-forgotten: {b|sum(v[0,c] * tanh(sum(Q[i,a] * W[a,c] for a in columns(Q)) + sum(K[j,a] * W[a + columns(Q),c] for a in columns(K))) for c in d)}  # {b} is not added
    v_S-forgotten: sum(tanh(sum(Q[i,a] * W[a,c] for a in columns(Q)) + sum(K[j,a] * W[a + columns(Q),c] for a in columns(K)){b| + b[0,c]}) for c in d)  # the numbers that tanh gives are added up: {v} is left out
    concat-order: sum(v[0,c] * tanh(sum(K[j,a] * W[a,c] for a in columns(K)) + sum(Q[i,a] * W[a + columns(K),c] for a in columns(Q)){b| + b[0,c]}) for c in d)  # {K} is before {Q}, and not after it
    score-weights-transposed: sum(v[0,c] * tanh(sum(Q[i,a] * W[c,a] for a in columns(Q)) + sum(K[j,a] * W[c,a + columns(Q)] for a in columns(K)){b| + b[0,c]}) for c in d)  # {W} is transposed
    scores-transposed: Z[j in m, i in n] = S[i,j]  # the scores are transposed

Scores, DistanceScores, AdditiveScores, ConcatScores
    scale-not-asked: {wide|{!back|S[i,j] / sqrt(d_k)}}  # the scores are divided by √d_k = √{d_k}{unasked|, which is not asked for}{!unasked| already here}

# Scale and cap
DivideBySqrt
    scale-back-twice: {back|X[i,j] / d_k}  # the scale is used twice in the backward pass
    scale-back-inverse: {back|X[i,j] * sqrt(d_k)}  # the gradient is divided by the scale of the scores
Multiply
    scale-back-twice: {back|X[i,j] * factor ** 2}  # the scale is used twice in the backward pass
    scale-back-inverse: {back|X[i,j] / factor}  # the gradient is divided by the scale of the scores
    scale-divided: {!back|X[i,j] / factor}  # the scores are divided by the factor
DivideBySqrt, Multiply
    scale-none: {!back|X[i,j]}  # the scores are not scaled
    scale-sqrt-dk: {!back|X[i,j] / sqrt(d_k)}  # the scores are divided by √d_k = √{d_k}
    scale-dk: {!back|X[i,j] / d_k}  # the scores are divided by d_k = {d_k}, not by its root
    scale-multiplied: {!back|X[i,j] * sqrt(d_k)}  # the scores are multiplied by √d_k = √{d_k}
    scale-sqrt-d-model: {!back|X[i,j] / sqrt(d_model)}  # the scores are divided by √{d_model}, the root of d_model
    scale-sqrt-d-model: {!back|X[i,j] / sqrt(d_other)}  # the scores are divided by √{d_other}, the root of d_model
    scale-sqrt-d-model: {!back|X[i,j] / sqrt(d_heads)}  # the scores are divided by √{d_heads}, the root of d_model
    scale-sqrt-n: {!back|X[i,j] / sqrt(queries)}  # the scores are divided by √{queries}, the root of n
    scale-sqrt-n: {!back|X[i,j] / sqrt(keys)}  # the scores are divided by √{keys}, the root of n
    scale-back-forgotten: {back|X[i,j]}  # the scale is forgotten in the backward pass
SoftCap
    cap-forgotten: X[i,j]  # the scores are not capped

# Positions, and bias by distance
Rotate
    rope-forgotten: {!back|X[i,j]}  # {X} is not rotated
RelativeBias
    rel-bias-forgotten: S[i,j]  # {table} is not added
Alibi
    alibi-forgotten: S[i,j]  # slope times distance is not subtracted from the scores
    alibi-added: S[i,j] + slope[0,0] * abs(i + place - j)  # slope times distance is added to the scores, not subtracted
    alibi-before-scale: {scaled|S[i,j] - slope[0,0] * scale * abs(i + place - j)}  # slope times distance is subtracted before the scores are scaled
    alibi-slopes-reversed: {several|Z[h in heads(S), i in rows(S), j in columns(S)] = S[h,i,j] - slope[heads(S) - 1 - h,0,0] * abs(i + place - j)}  # the slopes of the heads are in reverse order
    alibi-slopes-halved: {slope|{several|Z[h in heads(S), i in rows(S), j in columns(S)] = S[h,i,j] - 2 ** -(h + 1) * abs(i + place - j)}{!several|S[i,j] - 1 / 2 * abs(i + place - j)}}  # the slopes of the heads are 1/2, 1/4, …, and not those of the paper
    alibi-slopes-from-1: {slope|{several|Z[h in heads(S), i in rows(S), j in columns(S)] = S[h,i,j] - 2 ** -h * abs(i + place - j)}{!several|S[i,j] - abs(i + place - j)}}  # the slopes of the heads are 1, 1/2, …, and not those of the paper

# Masks: with -1e9 in place of -inf, rows without an allowed key have other weights
Mask
    mask-forgotten: S[i,j]{bias| + (0 if bias[i,j] == -inf else bias[i,j])}  # no score is masked
    mask-inverted: S[i,j]{bias| + (0 if bias[i,j] == -inf else bias[i,j])} if M[i,j] == -inf else -inf  # the mask is inverted: what may be attended to is forbidden
    mask-inverted: S[i,j]{bias| + (0 if bias[i,j] == -inf else bias[i,j])} if M[i,j] == -inf else -10 ** 9  # the mask is inverted: what may be attended to is forbidden
    mask-turned: -inf if M[j,i] == -inf else S[i,j]{bias| + (0 if bias[i,j] == -inf else bias[i,j])}  # the mask is transposed
    mask-zero: 0 if M[i,j] == -inf else M[i,j]  # 0 is written where a score is forbidden, not -∞
    window-off: {keep|-inf if M[i,j] == -inf and M[i,min(j + 1, columns(S) - 1)] == -inf else S[i,j]{bias| + (0 if bias[i,j] == -inf else bias[i,j])}}{!keep|{ignore|-inf if M[i,j] == -inf and M[i,min(j + 1, columns(S) - 1)] == -inf else S[i,j]{bias| + (0 if bias[i,j] == -inf else bias[i,j])}}}  # the window is off by one: each query sees one key further into the past
    window-off: {keep|-inf if M[i,j] == -inf or M[i,max(j - 1, 0)] == -inf else S[i,j]{bias| + (0 if bias[i,j] == -inf else bias[i,j])}}{!keep|{ignore|-inf if M[i,j] == -inf or M[i,max(j - 1, 0)] == -inf else S[i,j]{bias| + (0 if bias[i,j] == -inf else bias[i,j])}}}  # the window is off by one: each query sees one key less far into the past
    bias-not-added: {bias|-inf if M[i,j] == -inf else S[i,j]}  # {bias} is not added
    bias-subtracted: {bias|-inf if M[i,j] == -inf else S[i,j] - bias[i,j]}  # {bias} is subtracted
    bias-multiplied: {bias|-inf if M[i,j] == -inf else S[i,j] * bias[i,j]}  # {bias} is multiplied, not added
    bias-before-scale: {scaled|{bias|-inf if M[i,j] == -inf else S[i,j] + bias[i,j] * scale}}  # {bias} is added before the scores are scaled

# Rows of scores to rows of weights
Softmax
    sink-forgotten: {sink|softmax(S[i,k] for k in m)[j]}  # {sink} are left out of the sum: the weights of each {line} sum to 1
    sink-no-exp: {sink|softmax((S[i,k] for k in m), log(sink[0,0]))[j]}  # {sink} are added to the sum without exp
    softmax-columns: {sink|softmax((S[k,j] for k in n), sink[0,0])[i]}{!sink|softmax(S[k,j] for k in n)[i]}  # each {across} is made to sum to 1, not each {line}
    softmax-whole: exp(S[i,j]) / ({sink|exp(sink[0,0]) + }sum(exp(S[k,l]) for k in n for l in m))  # the whole matrix is made to sum to 1, not each {line}
    no-exp: share({sink|(}S[i,k] for k in m{sink|), sink[0,0]})[j]  # each score is divided by the sum of its {line}: exp is left out
    not-normalised: exp(S[i,j])  # exp of each score is taken, and not divided by the sum
    base-2: softmax({sink|(}S[i,k] * log(2) for k in m{sink|), sink[0,0] * log(2)})[j]  # powers of 2 are taken, not of e
    base-10: softmax({sink|(}S[i,k] * log(10) for k in m{sink|), sink[0,0] * log(10)})[j]  # powers of 10 are taken, not of e
    exp-negative: softmax({sink|(}-inf if S[i,k] == -inf else -S[i,k] for k in m{sink|), -sink[0,0]})[j]  # exp(-s) is taken, not exp(s)
    weights-scaled: A[i,j] / sqrt(d_k)  # the weights are divided by √d_k = √{d_k}
DivideBySum, HardMax
    softmax-not-asked: softmax(S[i,k] for k in m)[j]  # softmax is taken
DivideBySum
    softmax-columns: share(S[k,j] for k in n)[i]  # each {across} is made to sum to 1, not each {line}
    softmax-whole: S[i,j] / sum(S[k,l] for k in n for l in m)  # the whole matrix is made to sum to 1, not each {line}
HardMax
    softmax-columns: hardmax(S[k,j] for k in n)[i]  # each {across} is made to sum to 1, not each {line}
    softmax-whole: 1 if S[i,j] == max(max(S[k,l] for l in m) for k in n) else 0  # the whole matrix is made to sum to 1, not each {line}

# Normalization
FeatureMean
    sum-for-mean: sum(X[i,c] for c in d)  # the features are added, and not divided by their number
    mean-over-tokens: Z[c in d, z in 1] = sum(X[i,c] for i in n) / rows(X)  # the mean is that of each feature over the tokens, not of each token over its features
FeatureVariance
    variance-other-count: sum((X[i,c] - mu[i,0]) ** 2 for c in d) / (d - 1 + ddof)  # the squares are divided by {sample|d}{!sample|d - 1}
    deviation-for-variance: sqrt(sum((X[i,c] - mu[i,0]) ** 2 for c in d) / (d - ddof))  # the root is taken: that is the standard deviation
    variance-not-divided: sum((X[i,c] - mu[i,0]) ** 2 for c in d)  # the squares are added, and not divided by their number
    mean-not-subtracted: sum(X[i,c] ** 2 for c in d) / d  # the mean is not subtracted before squaring
    mean-over-tokens: Z[c in d, z in 1] = sum((X[i,c] - sum(X[k,c] for k in n) / rows(X)) ** 2 for i in n) / (rows(X) - ddof)  # the variance is that of each feature over the tokens, not of each token
FeatureSquares
    mean-subtracted: sum((X[i,c] - sum(X[i,k] for k in d) / d) ** 2 for c in d) / d  # the mean is subtracted before squaring: that is the variance
Normalise
    eps-outside: {eps|{inside|{gain|gain[0,c] * }(X[i,c]{mean| - mean[i,0]}) / (sqrt(var[i,0]) + eps){bias| + bias[0,c]}}}  # ε is outside the root
    eps-inside: {eps|{!inside|{gain|gain[0,c] * }(X[i,c]{mean| - mean[i,0]}) / sqrt(var[i,0] + eps){bias| + bias[0,c]}}}  # ε is inside the root
    eps-forgotten: {eps|{gain|gain[0,c] * }(X[i,c]{mean| - mean[i,0]}) / sqrt(var[i,0]){bias| + bias[0,c]}}  # ε is not added
    variance-for-deviation: {gain|gain[0,c] * }(X[i,c]{mean| - mean[i,0]}) / {eps|{inside|sqrt(var[i,0] ** 2 + eps)}{!inside|(var[i,0] + eps)}}{!eps|var[i,0]}{bias| + bias[0,c]}  # it is divided by the variance, and not by its root
    variance-other-count: {mean|{gain|gain[0,c] * }(X[i,c] - mean[i,0]) / {eps|{inside|sqrt(var[i,0] * columns(X) / (columns(X) - 1) + eps)}{!inside|(sqrt(var[i,0] * columns(X) / (columns(X) - 1)) + eps)}}{!eps|sqrt(var[i,0] * columns(X) / (columns(X) - 1))}{bias| + bias[0,c]}}  # the variance is divided by d - 1
    bias-forgotten: {bias|N[i,c] - bias[0,c]}  # {bias} is not added
    gain-forgotten: {gain|(X[i,c]{mean| - mean[i,0]}) / {eps|{inside|sqrt(var[i,0] + eps)}{!inside|(sqrt(var[i,0]) + eps)}}{!eps|sqrt(var[i,0])}{bias| + bias[0,c]}}  # it is not multiplied by {gain}
    mean-over-tokens: {gain|gain[0,c] * }(X[i,c]{mean| - sum(X[l,c] for l in rows(X)) / rows(X)}) / {eps|{inside|sqrt(sum((X[k,c]{mean| - sum(X[l,c] for l in rows(X)) / rows(X)}) ** 2 for k in rows(X)) / rows(X) + eps)}{!inside|(sqrt(sum((X[k,c]{mean| - sum(X[l,c] for l in rows(X)) / rows(X)}) ** 2 for k in rows(X)) / rows(X)) + eps)}}{!eps|sqrt(sum((X[k,c]{mean| - sum(X[l,c] for l in rows(X)) / rows(X)}) ** 2 for k in rows(X)) / rows(X))}{bias| + bias[0,c]}  # each feature is normalized over the tokens, not each token over its features
    norm-forgotten: X[i,c]  # {X} is not normalized

# Activations
ReLU, GELU, GELUtanh, GELUquick, SiLU, Tanh
    activation-forgotten: X[i,j]  # {activation} is left out
GatedReLU, GatedGELU, GatedGELUtanh, GatedGELUquick, GatedSiLU, GatedTanh
    activation-forgotten: X[i,j] * G[i,j]  # {activation} is left out

# Matrices put together and taken apart
Add
    bias-forgotten: {outputs|a[i,j]}  # {b} is not added
    bias-subtracted: {outputs|a[i,j] - b[i,j]}  # {b} is subtracted
    bias-multiplied: {outputs|a[i,j] * b[i,j]}  # {b} is multiplied, not added
    positions-forgotten: {positions|a[i,j]}  # {b} is not added
    positions-subtracted: {positions|a[i,j] - b[i,j]}  # {b} is subtracted
    positions-multiplied: {positions|a[i,j] * b[i,j]}  # {b} is multiplied, not added
    residual-forgotten: {residual|b[i,j]}  # {a} is not added
    residual-subtracted: {residual|a[i,j] - b[i,j]}  # {b} is subtracted from {a}, not added
    positions-before-class: {token|a[i,j] if i == 0 else a[i,j] + b[i - 1,j]}  # {b} is added before {token} is put in front: the first row goes to the first patch
    positions-not-on-class: {token|a[i,j] if i == 0 else a[i,j] + b[i,j]}  # {b} is not added to {token}
    class-token-forgotten: {token|Z[i in rows(a) - 1, j in columns(a)] = a[i + 1,j] + b[i + 1,j]}  # {token} is forgotten
    part-forgotten: {residual|a[i,j]}{embedded|b[i,j]}  # {residual|{b} is not added to {a}}{embedded|{a} is not added to {b}}
Concat
    mean-for-concat: Z[i in n, c in w] = sum(X[h,i,c] for h in H) / H  # the heads are averaged, not set side by side
    sum-for-concat: Z[i in n, c in w] = sum(X[h,i,c] for h in H)  # the heads are added, not set side by side
    heads-interleaved: X[x % heads(X),i,x // heads(X)]  # the heads alternate column by column, and are not side by side
    heads-viewed: Z[i in rows(X), x in heads(X) * columns(X)] = X[(i * heads(X) * columns(X) + x) // (rows(X) * columns(X)),(i * heads(X) * columns(X) + x) // columns(X) % rows(X),x % columns(X)]  # the heads are merged by a view alone, without exchanging rows and heads
Mean
    concat-for-mean: Z[i in n, x in heads(X) * columns(X)] = X[x // columns(X),i,x % columns(X)]  # the heads are set side by side, not averaged
    sum-for-mean: sum(X[h,i,c] for h in H)  # the heads are added, and not divided by their number
Lookup
    ids-off-by-one: table[min(max(ids[0,i] - {first|0}{!first|1}, 0), rows(table) - 1),c]  # ids count from {first|0}{!first|1}, and not from {first|1}{!first|0}
Stack
    cache-order: {!layer|b[i,c] if i < rows(b) else a[i - rows(b),c]}  # {b} is put before {a}: a cache comes first
    cache-forgotten: {!layer|Z[i in n, c in d] = b[i,c]}  # {a} is left out
    class-token-behind: {layer|b[i,c] if i < rows(b) else a[i - rows(b),c]}  # {a} is after the others, not before them
    class-token-forgotten: {layer|Z[i in n, c in d] = b[i,c]}  # {a} is forgotten
TakeFirst
    read-other:last: X[rows(X) - 1,c]  # the last token is read
    read-other:mean: sum(X[i,c] for i in n) / n  # the mean of the tokens is read
    read-other:second: X[min(1, rows(X) - 1),c]  # the second token is read
TakeLast
    read-other:first: X[0,c]  # the first token is read
    read-other:mean: sum(X[i,c] for i in n) / n  # the mean of the tokens is read
TokenMean
    read-other:first: Z[z in 1, c in d] = X[0,c]  # the first token is read
    read-other:last: Z[z in 1, c in d] = X[rows(X) - 1,c]  # the last token is read

# Gradients
SoftmaxBack, DivideBySumBack
    jacobian-diagonal: A[i,j] * (1 - A[i,j]) * dA[i,j]  # the Jacobian is taken as its diagonal, A(1 - A): the entries beside it are left out
    softmax-back-forgotten: dA[i,j]  # {dA} is used as it is: the derivative of the softmax is left out
    rowsum-axis: A[i,j] * (dA[i,j] - sum(A[k,j] * dA[k,j] for k in n))  # {A} ⊙ {dA} is added along each {across}, not along each {line}
    rowsum-forgotten: A[i,j] * dA[i,j]  # the sum of {A} ⊙ {dA} along each {line} is not subtracted
    rowsum-unweighted: A[i,j] * (dA[i,j] - sum(dA[i,k] for k in m))  # the sum of {dA} along each {line} is subtracted, and not that of {A} ⊙ {dA}
SumTo
    mean-for-sum: Y[i,j] / rows(G)  # the rows of {G} are averaged, and not added
ReLUBack, GELUBack, GELUtanhBack, GELUquickBack, SiLUBack, TanhBack
    slope-forgotten: {!U|G[i,j]}  # the slope of the activation is left out
LessOneHot
    onehot-forgotten: prob[i,j]  # the one-hot target is not subtracted
Difference
    target-forgotten: a[i,j]  # {b} is not subtracted
Descend
    step-up: {!heads|{!turned|W[i,j]}{turned|W[j,i]}}{heads|{!turned|W[i,0,j]}{turned|W[j,0,i]}} + rate * G[i,j]  # the gradient is added, not subtracted
    rate-forgotten: {!heads|{!turned|W[i,j]}{turned|W[j,i]}}{heads|{!turned|W[i,0,j]}{turned|W[j,0,i]}} - G[i,j]  # the whole gradient is subtracted: the learning rate is left out
