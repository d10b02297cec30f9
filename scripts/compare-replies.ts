/**
 * Compares what two states of the code answered to the same requests, as `RECORD_REPLIES=FILE npm test -- tests/contract/hostile-values.test.ts`
 * recorded them. What differs between runs of the first state (identifiers, codes, times) is not compared: two runs show most of it, a third one
 * the choices among few.
 *   node scripts/on-runtime.mjs scripts/compare-replies.ts --before FILE --before FILE [--before FILE …] --after FILE
 * Exits 1 when a reply differs; prints each difference once for an operation.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import type { RecordedReply } from '../tests/support/recorded-replies.ts';

const { values } = parseArgs({
  options: { before: { type: 'string', multiple: true }, after: { type: 'string' }, show: { type: 'string', default: '40' } },
});
const recorded = values.before ?? [];
if (recorded.length < 2 || !values.after) {
  console.error('Usage: compare-replies.ts --before FILE --before FILE [--before FILE …] --after FILE [--show NUMBER]');
  process.exit(2);
}

/** JSON path -> value; numbers in texts and values that are made by chance do not count. */
type Parts = Map<string, string>;

const CHANCE: readonly [RegExp, string][] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '<uuid>'],
  [/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<jwt>'],
  [/\d+/g, '#'],
];

const textOf = (value: unknown): string => CHANCE.reduce((text, [pattern, to]) => text.replace(pattern, to), String(value));

function collect(value: unknown, path: string, parts: Parts): void {
  if (Array.isArray(value)) {
    parts.set(`${path}.length`, String(value.length));
    value.forEach((item, index) => {
      collect(item, `${path}[${index}]`, parts);
    });
  } else if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    parts.set(`${path} keys`, entries.map(([name]) => textOf(name)).join());
    for (const [name, item] of entries) collect(item, `${path}.${textOf(name)}`, parts);
  } else parts.set(path, `${value === null ? 'null' : typeof value} ${textOf(value)}`);
}

async function read(file: string): Promise<Map<string, Parts>> {
  const replies = new Map<string, Parts>();
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const { test, place, request, status, headers, body } = JSON.parse(line) as RecordedReply;
    const parts: Parts = new Map([['request', `${request.method} ${textOf(request.path)}`]]);
    collect(status, 'status', parts);
    parts.set('status', String(status));
    collect(headers, 'headers', parts);
    collect(body, 'body', parts);
    replies.set(`${test} (${place})`, parts);
  }
  return replies;
}

const [first, ...others] = await Promise.all(recorded.map(read));
const after = await read(values.after);
let compared = 0;
let parts = 0;
let byChance = 0;
const differences = new Map<string, string[]>();
const report = (key: string, text: string) => {
  const operation = key.replace(/ \(\d+\)$/, '');
  differences.set(operation, [...(differences.get(operation) ?? []), `${key}: ${text}`]);
};
for (const [key, one] of first!) {
  const now = after.get(key);
  if (!now) {
    report(key, 'no such request afterwards');
    continue;
  }
  compared += 1;
  for (const path of new Set([...one.keys(), ...now.keys()])) {
    parts += 1;
    if (others.some((again) => again.get(key)?.get(path) !== one.get(path))) byChance += 1;
    else if (one.get(path) !== now.get(path)) report(key, `${path}: ${one.get(path)} -> ${now.get(path)}`);
  }
}
for (const key of after.keys()) if (!first!.has(key)) report(key, 'no such request before');
for (const [operation, found] of [...differences].slice(0, Number(values.show)))
  console.log(`${operation}: ${found.length}\n  ${found.slice(0, 3).join('\n  ')}`);
console.log(`${compared} requests, ${parts} values compared, ${byChance} left out; ${differences.size} operations differ`);
process.exitCode = differences.size > 0 ? 1 : 0;
