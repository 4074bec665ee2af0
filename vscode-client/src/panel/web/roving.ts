// One stop of the Tab key for a group of buttons or tabs; arrows, Home and End lead inside it.
export function rove(event: KeyboardEvent, selector: string): HTMLElement | undefined {
  const steps: Record<string, number> = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };
  const group = event.currentTarget as HTMLElement;
  const items = [...group.querySelectorAll<HTMLElement>(selector)];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const step = steps[event.key];
  const index = event.key === "Home" ? 0 : event.key === "End" ? items.length - 1 : step === undefined ? -1 : (at + step + items.length) % items.length;
  const next = items[index];
  if (!next || at < 0) return undefined;
  event.preventDefault();
  next.focus();
  return next;
}
