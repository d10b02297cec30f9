/**
 * No `catch` may turn a database that cannot be reached into another error, or act on it (spec 10 D1). Fails for every `catch` that may see
 * an error of the database and neither passes it on nor says in a comment why it may end there.
 *   npm run check:catches
 *
 * May see one: the `try` block, or the expression in front of `.catch`, waits for something that was given `app`, `t`, `db` or `tx`, or a
 * part of them other than clock, log, settings, randomness and ports. What a port throws is its own; a callback without arguments is not followed.
 *
 * Passes it on: `rethrowUnavailable(error)` (core/errors.ts), `throw error` as the last statement or behind a negated narrowing
 * (`if (!isX(error)) throw error`, `if (codeOf(error) !== X) throw error`), `throw isX(error) ? … : error`, or a question to `isDatabaseUnavailable` or `isConnectionLost`.
 * Says why not: a comment that begins with `Any failure:` inside the `catch`, at its line or at the line before.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { listFiles, projectRoot } from './checks/source-files.ts';
import { lineOf, type Token, tokenize } from './checks/typescript-lexer.ts';

const HARMLESS_PART = /\b(?:app|t|tx|this\.#app)\.(?:clock|log|settings|random|env|ports|cache\.forget)\b/g;
const REACHES_DATABASE = /(?<![.\w#])(?:app|t|tx|db|database|sql|instance|working)\b|this\.#(?:app|db|database)\b|\bctx\.app\b/;
const REASON = /^\/\/ Any failure: \S/;

export interface SwallowedError {
  line: number;
  /** How the `catch` begins. */
  text: string;
}

/** The catches of a source file that end an error of the database without a reason. */
export function swallowedErrors(source: string): SwallowedError[] {
  const all = tokenize(source);
  const tokens = all.filter(({ kind }) => kind !== 'comment');
  const comments = all.filter(({ kind }) => kind === 'comment');
  return tokens.flatMap((token, at): SwallowedError[] => {
    if (token.kind !== 'word' || token.text !== 'catch') return [];
    const found = tokens[at - 1]?.text === '.' ? promiseCatch(tokens, at) : blockCatch(tokens, at);
    if (found === null) return [];
    const { tried, handler, end } = found;
    if (!REACHES_DATABASE.test(textOf(source, tried).replace(HARMLESS_PART, ''))) return [];
    if (passesOn(textOf(source, handler))) return [];
    const lineStart = source.lastIndexOf('\n', source.lastIndexOf('\n', token.start) - 1) + 1;
    if (comments.some(({ text, start }) => start >= lineStart && start < end && REASON.test(text))) return [];
    return [{ line: lineOf(source, token.start), text: source.slice(token.start, source.indexOf('\n', token.start)) }];
  });
}

interface Catch {
  tried: readonly Token[];
  handler: readonly Token[];
  /** Offset in the source of the end of its line. */
  end: number;
}

/** `try { … } catch (error) { … }`; null when nothing is awaited in it. */
function blockCatch(tokens: readonly Token[], at: number): Catch | null {
  const close = at - 1;
  if (tokens[close]?.text !== '}') return null;
  const tried = tokens.slice(opening(tokens, close) + 1, close);
  if (!tried.some(({ kind, text }) => kind === 'word' && text === 'await')) return null;
  let open = at + 1;
  while (tokens[open]!.text !== '{') open = tokens[open]!.text === '(' ? closing(tokens, open) + 1 : open + 1;
  const end = closing(tokens, open);
  return { tried, handler: tokens.slice(at, end + 1), end: tokens[end]!.end };
}

/** `promise.catch(handler)`. */
function promiseCatch(tokens: readonly Token[], at: number): Catch | null {
  if (tokens[at + 1]?.text !== '(') return null;
  const end = closing(tokens, at + 1);
  let from = at - 2;
  while (from > 0 && !STATEMENT_STARTS.has(tokens[from]!.text)) {
    from = CLOSES.has(tokens[from]!.text) ? opening(tokens, from) - 1 : from - 1;
  }
  const next = tokens[end + 1];
  return { tried: tokens.slice(from + 1, at - 1), handler: tokens.slice(at, end + 1), end: next ? next.end : tokens[end]!.end };
}

const STATEMENT_STARTS = new Set([';', '{', '}', '=>', '=', 'return', 'await', 'void', ',', '(', '?', ':', '&&', '||', '??']);
const CLOSES = new Set([')', ']', '}']);
const OPENS = new Set(['(', '[', '{']);

function closing(tokens: readonly Token[], open: number): number {
  for (let depth = 0, at = open; at < tokens.length; at++) {
    if (OPENS.has(tokens[at]!.text) && tokens[at]!.kind === 'punct') depth += 1;
    else if (CLOSES.has(tokens[at]!.text) && tokens[at]!.kind === 'punct' && --depth === 0) return at;
  }
  return tokens.length - 1;
}

function opening(tokens: readonly Token[], close: number): number {
  for (let depth = 0, at = close; at >= 0; at--) {
    if (CLOSES.has(tokens[at]!.text) && tokens[at]!.kind === 'punct') depth += 1;
    else if (OPENS.has(tokens[at]!.text) && tokens[at]!.kind === 'punct' && --depth === 0) return at;
  }
  return 0;
}

function textOf(source: string, tokens: readonly Token[]): string {
  return tokens.length === 0 ? '' : source.slice(tokens[0]!.start, tokens.at(-1)!.end);
}

function passesOn(handler: string): boolean {
  const name = /^catch\s*\(\s*\(?\s*(?:async\s*\(?)?(\w+)/.exec(handler)?.[1];
  if (name === undefined) return false;
  if (/\b(?:rethrowUnavailable|isDatabaseUnavailable|isConnectionLost)\(/.test(handler)) return true;
  const again = `throw ${name};`;
  const body = handler.replace(/\s+/g, ' ');
  return (
    body.endsWith(`${again} }`) ||
    new RegExp(`throw [^;]*: ${name}; \\}$`).test(body) ||
    new RegExp(`if \\((?:.* \\|\\| )?!.*\\) (?:\\{ )?throw ${name};`).test(body) ||
    new RegExp(`if \\([^|&]* !== [^|&]*\\) (?:\\{ )?throw ${name};`).test(body)
  );
}

function main(): void {
  const found = listFiles(projectRoot, 'src').flatMap((path) =>
    swallowedErrors(readFileSync(join(projectRoot, path), 'utf8')).map(({ line, text }) => `${path}:${line}  ${text.trim()}`),
  );
  if (found.length === 0) {
    console.log('No catch ends an error of the database without a reason.');
    return;
  }
  console.error(
    `${found.join('\n')}\n\n${found.length} catches end errors of the database without a reason, see scripts/check-catches.ts.`,
  );
  process.exitCode = 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
