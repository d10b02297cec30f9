/**
 * Makes one dictionary of the files of several topics.
 * @throws Error on a key that two of them have
 */
export function mergeTexts(parts: readonly Readonly<Record<string, string>>[]): Readonly<Record<string, string>> {
  const merged: Record<string, string> = {};
  for (const part of parts) {
    for (const [key, text] of Object.entries(part)) {
      if (Object.hasOwn(merged, key)) throw new Error(`Two texts for ${key}`);
      merged[key] = text;
    }
  }
  return merged;
}
