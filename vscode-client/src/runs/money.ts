// What a run costs, as people read it, in lists and in the page of a panel alike. No page, no editor.

/** Cents matter while a loop is cheap: `$0.031`, `$0.0004`, `$12.50`; nothing where no price is known. */
export function money(usd: number | undefined): string {
  if (usd === undefined) return "";
  if (usd === 0) return "$0";
  if (usd < 0.0001) return "<$0.0001";
  if (usd < 0.001) return `$${usd.toFixed(4)}`;
  return usd < 1 ? `$${usd.toFixed(3)}` : `$${usd.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}
