import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  bracketPairs,
  type Declaration,
  type FileFacts,
  findDeclaration,
  readArrow,
  readFacts,
  splitAt,
} from './declarations.ts';
import { isTrivialCall, type Piece, PLACEHOLDER, type Value } from './piece.ts';
import type { Token } from './typescript-lexer.ts';

const MAX_DEPTH = 14;
const DYNAMIC: Value = { items: [[{ text: PLACEHOLDER }]] };
/** Between two texts of which only one is used at a time. */
const ALTERNATIVE = ' ¦ ';

interface Place {
  facts: FileFacts;
  bound: ReadonlyMap<Declaration, Value>;
  depth: number;
}

const isPunct = (token: Token | undefined, text: string): boolean => token?.kind === 'punct' && token.text === text;

/** Works out the texts of expressions without running them: constants, templates, simple functions, across files. */
export class TextValues {
  readonly #files = new Map<string, FileFacts | null>();
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** Null where there is no such file. */
  facts(path: string): FileFacts | null {
    if (!this.#files.has(path)) {
      const full = join(this.#root, path);
      this.#files.set(path, existsSync(full) ? readFacts(path, readFileSync(full, 'utf8')) : null);
    }
    return this.#files.get(path)!;
  }

  /** The value of an expression of a file; what is known at run time only is a placeholder. */
  valueOf(facts: FileFacts, tokens: readonly Token[]): Value {
    return this.#expression(tokens, { facts, bound: new Map(), depth: 0 });
  }

  #expression(given: readonly Token[], place: Place): Value {
    if (place.depth > MAX_DEPTH) return DYNAMIC;
    const deeper = { ...place, depth: place.depth + 1 };
    let tokens = withoutTypeAssertion(given);
    if (isPunct(tokens[0], '...')) tokens = tokens.slice(1);
    if (tokens.length === 0) return DYNAMIC;
    const pairs = bracketPairs(tokens);
    if (isPunct(tokens[0], '(') && pairs.get(0) === tokens.length - 1) return this.#expression(tokens.slice(1, -1), deeper);
    const ternary = splitTernary(tokens, pairs);
    if (ternary) return alternatives(ternary.map((part) => this.#expression(part, deeper)));
    for (const operator of ['??', '||', '&&']) {
      const parts = splitAt(tokens, operator);
      if (parts.length > 1)
        return operator === '&&'
          ? this.#expression(parts.at(-1)!, deeper)
          : alternatives(parts.map((part) => this.#expression(part, deeper)));
    }
    const terms = splitAt(tokens, '+');
    if (terms.length > 1 && terms[0]!.length > 0)
      return { items: [terms.flatMap((term) => joined(this.#expression(term, deeper), ''))] };
    return this.#chain(tokens, pairs, deeper);
  }

  /** A primary expression with what follows it: `.join(…)`, `[key]`, calls. */
  #chain(tokens: readonly Token[], pairs: Map<number, number>, place: Place): Value {
    const [first] = tokens;
    let value: Value;
    let at = 1;
    if (first!.kind === 'string') value = { items: [[this.#piece(first!.text, first!.start + 1, place)]] };
    else if (first!.kind === 'template') value = this.#template(first!, place);
    else if (isPunct(first, '[') && pairs.has(0)) {
      value = this.#list(tokens.slice(1, pairs.get(0)), place);
      at = pairs.get(0)! + 1;
    } else if (isPunct(first, '{') && pairs.has(0)) {
      value = this.#object(tokens.slice(1, pairs.get(0)), place);
      at = pairs.get(0)! + 1;
    } else if (isPunct(first, '(') && pairs.has(0)) {
      value = this.#expression(tokens.slice(1, pairs.get(0)), place);
      at = pairs.get(0)! + 1;
    } else if (first!.kind === 'word') {
      if (isPunct(tokens[1], '(')) {
        const args = splitAt(tokens.slice(2, pairs.get(1)), ',').filter((part) => part.length > 0);
        value = this.#call(first!, args, place);
        at = (pairs.get(1) ?? 1) + 1;
      } else value = this.#name(first!, place);
    } else return DYNAMIC;
    while (at < tokens.length) {
      if (isPunct(tokens[at], '!')) {
        at++;
        continue;
      }
      if (isPunct(tokens[at], '[') && pairs.has(at)) {
        const [key] = tokens.slice(at + 1);
        value = propertyOf(value, key?.kind === 'string' && pairs.get(at) === at + 2 ? key.text : null);
        at = pairs.get(at)! + 1;
        continue;
      }
      const method = tokens[at + 1];
      if (!(isPunct(tokens[at], '.') || isPunct(tokens[at], '?.')) || method?.kind !== 'word') return DYNAMIC;
      if (!isPunct(tokens[at + 2], '(')) {
        value = propertyOf(value, method.text);
        at += 2;
        continue;
      }
      const end = pairs.get(at + 2);
      if (end === undefined) return DYNAMIC;
      const args = tokens.slice(at + 3, end);
      if (method.text === 'join') value = { items: [joined(value, args[0]?.kind === 'string' ? args[0].text : ' ')] };
      else if (method.text === 'map' || method.text === 'flatMap') value = this.#mapped(value, args, place);
      else if (!isTrivialCall(method.text)) return DYNAMIC;
      at = end + 1;
    }
    return value;
  }

  #piece(text: string, offset: number, place: Place): Piece {
    return { text, file: place.facts.path, offset };
  }

  #template(token: Token, place: Place): Value {
    const pieces: Piece[] = [];
    for (const part of token.parts!) {
      if ('text' in part) pieces.push(this.#piece(part.text, part.start, place));
      else pieces.push(...joined(this.#expression(part.code, place), ' '));
    }
    return { items: [pieces] };
  }

  #list(tokens: readonly Token[], place: Place): Value {
    return {
      items: splitAt(tokens, ',')
        .filter((part) => part.length > 0)
        .flatMap((part) => this.#expression(part, place).items),
    };
  }

  #object(tokens: readonly Token[], place: Place): Value {
    const properties = new Map<string, Value>();
    for (const part of splitAt(tokens, ',')) {
      const [key] = part;
      if (!key || (key.kind !== 'word' && key.kind !== 'string')) continue;
      const value = part.length === 1 ? part : isPunct(part[1], ':') ? part.slice(2) : null;
      if (!value) continue;
      const arrow = readArrow(value);
      properties.set(key.text, this.#expression(arrow ? arrow.tokens : value, place));
    }
    return { items: [...properties.values()].flatMap(({ items }) => items), properties };
  }

  #mapped(value: Value, args: readonly Token[], place: Place): Value {
    const arrow = readArrow(args);
    if (!arrow) return DYNAMIC;
    const [parameter] = arrow.parameters;
    const declaration = parameter ? findDeclaration(place.facts, parameter, args[0]!.start) : undefined;
    const items = value.items.length === 0 ? DYNAMIC.items : value.items;
    return {
      items: items.flatMap((item) => {
        const bound = declaration ? new Map([...place.bound, [declaration, { items: [item] }]]) : place.bound;
        return this.#body(arrow.tokens, { ...place, bound }).items;
      }),
    };
  }

  #name(token: Token, place: Place): Value {
    const found = this.#find(place.facts, token.text, token.start);
    if (!found) return DYNAMIC;
    const { declaration, facts } = found;
    const bound = place.bound.get(declaration);
    if (bound) return bound;
    if (declaration.kind !== 'const') return DYNAMIC;
    const inside = { ...place, facts };
    let value = this.#expression(declaration.tokens, inside);
    if (declaration.pushed)
      value = {
        items: [...value.items, ...declaration.pushed.flatMap((tokens) => this.#list(tokens, inside).items), ...DYNAMIC.items],
      };
    return declaration.key === undefined ? value : propertyOf(value, declaration.key);
  }

  #call(callee: Token, args: Token[][], place: Place): Value {
    const found = this.#find(place.facts, callee.text, callee.start);
    if (found?.declaration.kind !== 'function') return DYNAMIC;
    const { declaration, facts } = found;
    const bound = new Map(place.bound);
    declaration.parameters!.forEach((name, index) => {
      const parameter = name === null ? undefined : findDeclaration(facts, name, declaration.tokens[0]!.start);
      if (parameter?.kind === 'parameter') bound.set(parameter, args[index] ? this.#expression(args[index], place) : DYNAMIC);
    });
    return this.#body(declaration.tokens, { facts, bound, depth: place.depth + 1 });
  }

  /** Of a body in braces everything that it may return. */
  #body(tokens: readonly Token[], place: Place): Value {
    if (!isPunct(tokens[0], '{')) return this.#expression(tokens, place);
    const pairs = bracketPairs(tokens);
    const returned: Value[] = [];
    tokens.forEach((token, index) => {
      if (token.kind !== 'word' || token.text !== 'return') return;
      let end = index + 1;
      while (end < tokens.length && !isPunct(tokens[end], ';')) end = (pairs.get(end) ?? end) + 1;
      if (end > index + 1) returned.push(this.#expression(tokens.slice(index + 1, end), place));
    });
    return returned.length === 0 ? DYNAMIC : alternatives(returned);
  }

  #find(facts: FileFacts, name: string, offset: number): { declaration: Declaration; facts: FileFacts } | null {
    const declaration = findDeclaration(facts, name, offset);
    if (declaration) return { declaration, facts };
    const imported = facts.imports.get(name);
    if (!imported?.from.startsWith('.')) return null;
    const other = this.facts(join(dirname(facts.path), imported.from));
    const target = other && findDeclaration(other, imported.name, 0);
    return target ? { declaration: target, facts: other } : null;
  }
}

/** The condition left out. Null where there is no `? :` at this level. */
function splitTernary(tokens: readonly Token[], pairs: Map<number, number>): Token[][] | null {
  let at = 0;
  while (at < tokens.length && !isPunct(tokens[at], '?')) at = (pairs.get(at) ?? at) + 1;
  if (at >= tokens.length) return null;
  const start = at + 1;
  let open = 1;
  for (at = start; at < tokens.length; at = (pairs.get(at) ?? at) + 1) {
    if (isPunct(tokens[at], '?')) open++;
    if (isPunct(tokens[at], ':') && --open === 0) return [tokens.slice(start, at), tokens.slice(at + 1)];
  }
  return null;
}

function withoutTypeAssertion(tokens: readonly Token[]): readonly Token[] {
  const pairs = bracketPairs(tokens);
  for (let at = 1; at < tokens.length; at++) {
    const token = tokens[at]!;
    if (pairs.has(at)) at = pairs.get(at)!;
    else if (token.kind === 'word' && (token.text === 'as' || token.text === 'satisfies') && !isPunct(tokens[at - 1], '.'))
      return tokens.slice(0, at);
  }
  return tokens;
}

function alternatives(values: readonly Value[]): Value {
  if (values.every(({ items, properties }) => items.length === 1 && !properties))
    return { items: [values.flatMap(({ items }, index) => (index === 0 ? items[0]! : [{ text: ALTERNATIVE }, ...items[0]!]))] };
  const properties = new Map<string, Value>();
  for (const value of values)
    for (const [key, part] of value.properties ?? []) {
      const known = properties.get(key);
      properties.set(key, known ? alternatives([known, part]) : part);
    }
  return { items: values.flatMap(({ items }) => items), ...(properties.size > 0 ? { properties } : {}) };
}

function propertyOf(value: Value, key: string | null): Value {
  const found = key === null ? undefined : value.properties?.get(key);
  if (found) return found;
  if (value.properties && key === null) return alternatives([...value.properties.values()]);
  if (value.properties) return DYNAMIC;
  return key === null && value.items.length > 0
    ? { items: [joined({ items: value.items }, ALTERNATIVE)] }
    : value.items.length > 1 || key === null
      ? value
      : DYNAMIC;
}

function joined(value: Value, separator: string): Piece[] {
  return value.items.flatMap((item, index) => (index === 0 ? item : [{ text: separator }, ...item]));
}
