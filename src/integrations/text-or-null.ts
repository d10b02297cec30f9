/** A field of somebody else's JSON as text, unless it is something else or blank. */
export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}
