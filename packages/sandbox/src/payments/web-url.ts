/** The hosted page links to web addresses only. */
export function webUrl(value: unknown): string | null {
  return typeof value === 'string' && /^https?:\/\//.test(value) ? value : null;
}
