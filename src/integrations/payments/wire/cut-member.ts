/** Tokens of JSON; a string is one token, so that brackets and commas in it are not counted. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],]/gs;

/**
 * The text of a JSON object without one of its members, every other byte unchanged: some providers sign a body and then put the signature
 * into it (spec 03 H17).
 * @param text one JSON object without duplicate keys
 * @returns null when the object has no such member
 */
export function cutMember(text: string, name: string): string | null {
  let depth = 0;
  let start = 0;
  let key: string | null = null;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') {
      depth++;
      if (depth === 1) start = index + 1;
    } else if (depth === 1 && (token === ',' || token === '}')) {
      if (key === name) return without(text, start, index);
      start = index + 1;
      key = null;
      if (token === '}') return null;
    } else if (token === '}' || token === ']') {
      depth--;
    } else if (depth === 1 && key === null && token !== ',') {
      key = JSON.parse(token) as string;
    }
  }
  return null;
}

/** Cuts a member with the comma before it, or with the one behind it where it is the first. */
function without(text: string, start: number, end: number): string {
  if (text[start - 1] === ',') return text.slice(0, start - 1) + text.slice(end);
  return text.slice(0, start) + text.slice(text[end] === ',' ? end + 1 : end);
}
