Q = [1 3; -1 1; 2.5 -2];
K = [3 -0.5; 2 -1.5; -2.5 3.5];
V = [2.5 -1.5; -1 3; -2 -3];
S = [1.5 -2.5 10.5; -3.5 -3.5 6; 8.5 8 -13.25];
A = [0 0 1; 0 0 1; 0.62 0.38 0];
O = [-2 -3; -2 -3; 1.17 0.21];
% Output 1: solid line to 3, no dashed line
% Output 2: solid line to 3, no dashed line
% Output 3: solid line to 1, dashed line to 2
