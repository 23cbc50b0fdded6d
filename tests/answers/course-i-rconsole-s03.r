# R version 4.3.1 -- copied from the console
> Q <- X %*% WQ; rownames(Q) <- tok; Q
     [,1] [,2]
the   1.5  1.0
cat   0.5  1.0
sat   1.5 -1.0
down  1.0  0.0
> K <- X %*% WK; rownames(K) <- tok; K
     [,1] [,2]
the     1    1
cat     1    0
sat    -1    2
down    0    1
> V <- X %*% WV; rownames(V) <- tok; V
     [,1] [,2] [,3]
the     0    2    3
cat    -1    0    3
sat     3    4   -3
down    1    2    0
> S <- Q %*% t(K); S
     the cat  sat down
the  2.5 1.5  0.5  1.0
cat  1.5 0.5  1.5  1.0
sat  0.5 1.5 -3.5 -1.0
down 1.0 1.0 -1.0  0.0
> A <- exp(S) / rowSums(exp(S)); round(A, 2)
      the  cat  sat down
the  0.58 0.21 0.08 0.13
cat  0.34 0.12 0.34 0.20
sat  0.25 0.69 0.00 0.06
down 0.40 0.40 0.05 0.15
> round(A %*% V, 2)
      [,1] [,2] [,3]
the   0.15 1.73 2.14
cat   1.09 2.43 0.37
sat  -0.62 0.64 2.80
down -0.09 1.31 2.23
> q()
