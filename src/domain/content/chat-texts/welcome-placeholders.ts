/** Placeholders of welcome texts (spec 05 section 6); anything else in braces stays as it is. */
const PLACEHOLDER = /\{(?:user_name|first_name|username|username_clean)\}/g;

/** Characters of the longest name of the messenger. */
const LONGEST_NAME = 'x'.repeat(64);

/** A welcome text for a user with the longest name: no user's text is longer. */
export function longestFilled(text: string): string {
  return text.replace(PLACEHOLDER, LONGEST_NAME);
}
