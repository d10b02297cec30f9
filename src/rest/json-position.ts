/** Finds the position at which a text is no longer JSON: a 422 `json_invalid` names it, the engine's message does not always. */

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids exactly these inside a string
const TEXT = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

export interface JsonFault {
  /** Index of the first character that is not allowed there; the length of the text when it ends too early. */
  position: number;
  error: string;
}

/** Call it for a text that `JSON.parse` refused. Works without recursion, so nesting does not matter. */
export function findJsonFault(text: string): JsonFault {
  let at = 0;
  const open: ('{' | '[')[] = [];
  const match = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) return false;
    at += found[0].length;
    return true;
  };
  const fault = (error: string): JsonFault => ({ position: at, error });
  let expect: 'value' | 'value or end' | 'key' | 'key or end' | 'comma or end' = 'value';

  for (;;) {
    match(SPACE);
    const char = text[at];
    if (expect === 'comma or end') {
      const container = open.at(-1);
      if (container === undefined) return fault('Extra data');
      if (char === ',') {
        at++;
        expect = container === '{' ? 'key' : 'value';
      } else if (char === (container === '{' ? '}' : ']')) {
        at++;
        open.pop();
      } else return fault("Expecting ',' delimiter");
    } else if (expect === 'key' || expect === 'key or end') {
      if (char === '}' && expect === 'key or end') {
        at++;
        open.pop();
        expect = 'comma or end';
      } else {
        if (!match(TEXT)) return fault('Expecting property name enclosed in double quotes');
        match(SPACE);
        if (text[at] !== ':') return fault("Expecting ':' delimiter");
        at++;
        expect = 'value';
      }
    } else if (char === ']' && expect === 'value or end') {
      at++;
      open.pop();
      expect = 'comma or end';
    } else if (char === '{' || char === '[') {
      at++;
      open.push(char);
      expect = char === '{' ? 'key or end' : 'value or end';
    } else if (match(TEXT) || match(SCALAR)) {
      expect = 'comma or end';
    } else return fault(char === '"' ? 'Invalid or unterminated string' : 'Expecting value');
  }
}
