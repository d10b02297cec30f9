/** The text without what the database refuses in a text or in JSON: U+0000 is left out, half a surrogate pair becomes U+FFFD. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}
