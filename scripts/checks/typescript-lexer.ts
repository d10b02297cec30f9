/**
 * Splits TypeScript into tokens, as far as the checks need it: no syntax tree, but strings, templates (nested as well),
 * comments and regular expressions are distinguished reliably. TypeScript 7 has no compiler interface for programs.
 */

type TemplatePart = { text: string; start: number } | { code: Token[] };

export interface Token {
  kind: 'word' | 'string' | 'template' | 'number' | 'regex' | 'punct' | 'comment';
  /** As written; of a string its value. */
  text: string;
  start: number;
  end: number;
  /** Of a template only: its texts as written and the tokens of its `${…}`. */
  parts?: TemplatePart[];
}

const WORD = /[\p{L}_$#][\p{L}\p{N}_$]*/uy;
const NUMBER = /(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)n?/y;
const PUNCT = /=>|\.\.\.|\?\.(?!\d)|\?\?=|\?\?|===|!==|==|!=|<=|>=|&&=|\|\|=|&&|\|\||\+\+|--|\+=|-=|\*=|\/=|[\s\S]/uy;
const REGEX = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
/** After these words a slash begins a regular expression. */
const BEFORE_REGEX = new Set(['return', 'typeof', 'case', 'in', 'of', 'do', 'else', 'await', 'yield', 'throw', 'new', 'void']);

/** Tokens of a whole file, comments included. */
export function tokenize(source: string): Token[] {
  return readTokens(source, 0, false).tokens;
}

/** The comments of a file, inside of templates too. */
export function commentsOf(tokens: readonly Token[]): Token[] {
  return tokens.flatMap((token) =>
    token.kind === 'comment' ? [token] : (token.parts ?? []).flatMap((part) => ('code' in part ? commentsOf(part.code) : [])),
  );
}

/** Without comments, inside of templates too. */
export function withoutComments(tokens: readonly Token[]): Token[] {
  return tokens
    .filter((token) => token.kind !== 'comment')
    .map((token) =>
      token.parts
        ? { ...token, parts: token.parts.map((part) => ('code' in part ? { code: withoutComments(part.code) } : part)) }
        : token,
    );
}

/** Reads to the end of the source, or to the brace that closes a template's `${`. */
function readTokens(source: string, from: number, isInTemplate: boolean): { tokens: Token[]; end: number } {
  const tokens: Token[] = [];
  let depth = 0;
  let at = from;
  let last: Token | undefined;
  const match = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0] ?? null;
  };
  const push = (kind: Token['kind'], end: number, text = source.slice(at, end), parts?: TemplatePart[]): void => {
    const token: Token = { kind, text, start: at, end, ...(parts ? { parts } : {}) };
    tokens.push(token);
    if (kind !== 'comment') last = token;
    at = end;
  };
  while (at < source.length) {
    const char = source[at]!;
    if (char === ' ' || char === '\n' || char === '\t' || char === '\r') at++;
    else if (source.startsWith('//', at) || (at === 0 && source.startsWith('#!'))) push('comment', lineEnd(source, at));
    else if (source.startsWith('/*', at)) {
      const close = source.indexOf('*/', at + 2);
      push('comment', close < 0 ? source.length : close + 2);
    } else if (char === '`') {
      const { parts, end } = readTemplate(source, at);
      push('template', end, source.slice(at, end), parts);
    } else if ((char === "'" || char === '"') && stringEnd(source, at) !== null) {
      const end = stringEnd(source, at)!;
      push('string', end, withoutEscapes(source.slice(at + 1, end - 1)));
    } else if (char === '/' && isRegexPosition(last) && match(REGEX)) push('regex', at + match(REGEX)!.length);
    else if (isDigit(char)) push('number', at + match(NUMBER)!.length);
    else {
      const word = match(WORD);
      if (word) {
        push('word', at + word.length);
        continue;
      }
      if (isInTemplate && char === '}' && depth === 0) return { tokens, end: at + 1 };
      if (char === '{') depth++;
      if (char === '}') depth--;
      push('punct', at + match(PUNCT)!.length);
    }
  }
  return { tokens, end: at };
}

function readTemplate(source: string, start: number): { parts: TemplatePart[]; end: number } {
  const parts: TemplatePart[] = [];
  let textStart = start + 1;
  let at = textStart;
  const endText = (): void => {
    if (at > textStart) parts.push({ text: source.slice(textStart, at), start: textStart });
  };
  while (at < source.length) {
    if (source[at] === '\\') at += 2;
    else if (source[at] === '`') {
      endText();
      return { parts, end: at + 1 };
    } else if (source.startsWith('${', at)) {
      endText();
      const { tokens, end } = readTokens(source, at + 2, true);
      parts.push({ code: tokens });
      at = end;
      textStart = end;
    } else at++;
  }
  endText();
  return { parts, end: at };
}

/** The offset after the closing quote; null where the line ends first (an apostrophe in JSX text). */
function stringEnd(source: string, start: number): number | null {
  for (let at = start + 1; at < source.length; at++) {
    if (source[at] === '\\') at++;
    else if (source[at] === '\n') return null;
    else if (source[at] === source[start]) return at + 1;
  }
  return null;
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', '0': '\0' };

function withoutEscapes(text: string): string {
  return text.replace(/\\(\r?\n|[\s\S])/g, (_, char: string) => ESCAPES[char] ?? (char.endsWith('\n') ? '' : char));
}

function isRegexPosition(last: Token | undefined): boolean {
  if (!last) return true;
  if (last.kind === 'word') return BEFORE_REGEX.has(last.text);
  return last.kind === 'punct' && !')]}'.includes(last.text) && last.text !== '++' && last.text !== '--';
}

const isDigit = (char: string): boolean => char >= '0' && char <= '9';

function lineEnd(source: string, at: number): number {
  const end = source.indexOf('\n', at);
  return end < 0 ? source.length : end;
}

/** The line of an offset, from 1. */
export function lineOf(source: string, offset: number): number {
  let line = 1;
  for (let at = source.indexOf('\n'); at >= 0 && at < offset; at = source.indexOf('\n', at + 1)) line++;
  return line;
}
