// The addresses of a run's texts, which the editor opens as documents; what lies behind them is `documents.ts`.

export const SCHEME = "loop-run";
