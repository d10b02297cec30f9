import { bracketPairs } from './declarations.ts';
import { type Token, tokenize, withoutComments } from './typescript-lexer.ts';

export interface DeclaredName {
  name: string;
  offset: number;
  isType: boolean;
}

const KEYWORDS = new Set(['const', 'let', 'var', 'function', 'class', 'interface', 'type', 'enum']);
const TYPES = new Set(['class', 'interface', 'type', 'enum']);
const NOT_METHODS = new Set(['if', 'for', 'while', 'switch', 'catch', 'function', 'return', 'await', 'super', 'with']);

/**
 * The names that a file declares: constants, functions, types, parameters, properties and methods. Uses of names that are declared
 * elsewhere, in a library for example, do not count.
 */
export function declaredNames(source: string): DeclaredName[] {
  return namesIn(withoutComments(tokenize(source)));
}

function namesIn(tokens: readonly Token[]): DeclaredName[] {
  const pairs = bracketPairs(tokens);
  const opens = new Map([...pairs].map(([open, close]) => [close, open]));
  const found = new Map<number, DeclaredName>();
  const add = (token: Token | undefined, isType = false): void => {
    if (token?.kind === 'word' && !KEYWORDS.has(token.text))
      found.set(token.start, { name: token.text, offset: token.start, isType });
  };
  const addPattern = (open: number): void => {
    for (let at = open + 1; at < pairs.get(open)!; at++) {
      const isBound =
        [',', '}', ']', ')', '='].includes(tokens[at + 1]?.text ?? '') &&
        ['{', '[', '(', ',', ':', '...'].includes(tokens[at - 1]!.text);
      if (isBound) add(tokens[at]);
    }
  };
  tokens.forEach((token, index) => {
    const [before, after] = [tokens[index - 1], tokens[index + 1]];
    if (token.kind === 'word') {
      if (
        KEYWORDS.has(token.text) &&
        before?.text !== '.' &&
        after?.kind === 'word' &&
        // In an import or export list `type` declares nothing.
        (token.text !== 'type' || ['=', '<'].includes(tokens[index + 2]?.text ?? ''))
      )
        add(after, TYPES.has(token.text));
      if ((token.text === 'const' || token.text === 'let') && pairs.has(index + 1)) addPattern(index + 1);
      const isMember =
        before === undefined || ['{', ',', '(', ';', '}', 'readonly', 'static', 'async', 'private', 'get'].includes(before.text);
      const isKey = after?.text === ':' || (after?.text === '?' && tokens[index + 2]?.text === ':');
      if (isMember && isKey) add(token);
      if (isMember && after?.text === '(' && !NOT_METHODS.has(token.text)) {
        const behind = tokens[(pairs.get(index + 1) ?? index) + 1];
        if ((behind?.text === '{' || behind?.text === ':') && before?.text !== '(' && before?.text !== ',') add(token);
      }
    }
    if (token.text === '=>' && token.kind === 'punct') {
      if (before?.kind === 'word') add(tokens[index - 2]?.text === ':' ? undefined : before);
      else if (before?.text === ')' && opens.has(index - 1)) addPattern(opens.get(index - 1)!);
    }
  });
  for (const token of tokens)
    for (const part of token.parts ?? []) if ('code' in part) for (const name of namesIn(part.code)) found.set(name.offset, name);
  return [...found.values()].sort((one, other) => one.offset - other.offset);
}
