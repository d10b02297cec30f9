/** The text as the database accepts it in a text or in JSON: without U+0000, and with U+FFFD for half a surrogate pair. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}
