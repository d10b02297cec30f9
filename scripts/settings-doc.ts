import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { definitionOf, type SettingKey, settingKeys } from '../src/domain/settings/catalogue/catalogue.ts';
import { type CategoryKey, categories } from '../src/domain/settings/catalogue/categories.ts';
import { environmentOnly, roundIntervals, usedByClients, withoutEffect } from '../src/domain/settings/catalogue/not-read.ts';
import { unitOf } from '../src/domain/settings/catalogue/units.ts';
import { formatInWords } from '../src/domain/settings/check-format.ts';
import { maskedValue } from '../src/domain/settings/mask-value.ts';
import { typeText } from '../src/domain/settings/rules.ts';
import { settingReaders } from './setting-readers.ts';

export const SETTINGS_PAGE = new URL('../docs/settings.md', import.meta.url);

const INTRODUCTION = `# Settings

Generated from the catalogue (\`src/domain/settings/catalogue\`) and the source by \`node scripts/on-runtime.mjs scripts/settings-doc.ts --write\`.
A test compares this page with both.

Every setting can be given by an environment variable of its name, or changed through the settings operations; a stored value has no effect
while the environment gives one, except where the key is marked "stored first". Secrets are shown masked. A value without bounds is a whole
number of 32 bits, or a text. \`—\` as a default means that nothing is set.

In effect:

- at once: on every instance, from the next request or job that reads it.
- next round: the interval of a job; the round that has begun keeps its time.
- restart: read at start from the environment only; a stored value has no effect.
- in clients: a client, a bot for example, reads it through the settings operations; this service does not.
- never: nothing reads it. "Read by" says why.
`;

/** File names that say nothing about a topic. */
const PLAIN_NAMES = new Set(['rules', 'repo', 'types', 'settings', 'jobs', 'ports', 'errors', 'connection', 'config']);
const MAX_TOPICS = 4;

/** What a file is about, in words: module and topic. */
function topicOf(path: string): { area: string; topic: string | null } {
  const [, layer = '', module = '', ...rest] = path.replace(/\.ts$/, '').split('/');
  const words = (name: string) => name.replace(/\.router$/, '').replaceAll('-', ' ');
  const last = rest.at(-1) ?? '';
  if (layer === 'domain') {
    const topic = rest.length > 1 ? rest[0]! : last;
    return { area: words(module), topic: PLAIN_NAMES.has(topic) ? null : words(topic) };
  }
  if (layer === 'integrations') return { area: words(module), topic: rest.length > 1 ? words(rest[0]!) : null };
  if (layer === 'composition') return { area: 'assembly', topic: words(module) };
  if (layer === 'core') return { area: module === 'env' ? 'start' : words(module), topic: null };
  return { area: layer === 'routers' ? 'operations' : layer, topic: words(last || module) };
}

/** `payments: method settings, payment texts; receipts`, the first topics of many. */
function readersInWords(paths: readonly string[]): string {
  const topics = new Map<string, Set<string>>();
  for (const path of paths) {
    const { area, topic } = topicOf(path);
    const known = topics.get(area) ?? new Set();
    topics.set(area, topic === null ? known : known.add(topic));
  }
  const areas = [...topics].map(([area, names]) => {
    const shown = [...names].slice(0, MAX_TOPICS);
    const rest = names.size > shown.length ? ' …' : '';
    return shown.length > 0 ? `${area}: ${shown.join(', ')}${rest}` : area;
  });
  return areas.length > MAX_TOPICS ? `${areas.slice(0, MAX_TOPICS).join('; ')} …` : areas.join('; ');
}

function readBy(key: SettingKey, readers: readonly string[]): string {
  if (usedByClients[key] !== undefined) return `used by clients: ${usedByClients[key]}`;
  if (withoutEffect[key] !== undefined) return `no effect: ${withoutEffect[key]}`;
  const others = readers.filter((path) => path !== 'src/core/env.ts');
  return readersInWords(others.length > 0 ? others : readers);
}

function inEffect(key: SettingKey): string {
  if (usedByClients[key] !== undefined) return 'in clients';
  if (withoutEffect[key] !== undefined) return 'never';
  if (environmentOnly.has(key) || definitionOf(key).excluded) return 'restart';
  return roundIntervals.has(key) ? 'next round' : 'at once';
}

function boundsOf(key: SettingKey): string {
  const { choices, format, min, max, minLength, placeholders } = definitionOf(key);
  const numbers = max === undefined ? `from ${min}` : `${min ?? ''}..${max}`;
  return [
    choices ? choices.map((choice) => `\`${choice}\``).join(' ') : '',
    format ? formatInWords(format) : '',
    min === undefined && max === undefined ? '' : numbers,
    minLength === undefined ? '' : `at least ${minLength} characters`,
    placeholders?.length ? `placeholders ${placeholders.map((name) => `\`{${name}}\``).join(' ')}` : '',
  ]
    .filter(Boolean)
    .join('; ');
}

function defaultOf(key: SettingKey): string {
  const definition = definitionOf(key);
  const value = maskedValue(definition, definition.default);
  if (value === null || value === '') return '—';
  return `\`${String(value).replace(/\s*\n\s*/g, ' ')}\``;
}

function row(key: SettingKey, readers: readonly string[]): string {
  const definition = definitionOf(key);
  const name = `\`${key}\`${definition.storedFirst ? ' (stored first)' : ''}`;
  const cells = [name, typeText(definition), unitOf(key, definition) ?? '', boundsOf(key), defaultOf(key)];
  return `| ${[...cells, readBy(key, readers), inEffect(key)].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** Text of `docs/settings.md`: all settings by category. */
export function renderSettingsPage(): string {
  const readers = settingReaders();
  const label = (category: CategoryKey) => categories[category].label.replace(/\{(\w+)_DISPLAY_NAME\}/, '$1');
  const byLabel = (Object.keys(categories) as CategoryKey[]).sort((a, b) =>
    label(a).toLowerCase() < label(b).toLowerCase() ? -1 : 1,
  );
  const sections = byLabel.flatMap((category) => {
    const keys = settingKeys.filter((key) => definitionOf(key).category === category);
    if (keys.length === 0) return [];
    const { description } = categories[category];
    const head = '| Key | Type | Unit | Bounds | Default | Read by | In effect |\n|---|---|---|---|---|---|---|';
    const rows = keys.map((key) => row(key, readers.get(key) ?? []));
    return [`## ${label(category)}\n${description === '' ? '' : `\n${description}\n`}\n${head}\n${rows.join('\n')}`];
  });
  return `${[INTRODUCTION, ...sections]
    .join('\n')
    .replaceAll(/\n(## )/g, '\n\n$1')
    .replaceAll(/\n{3,}/g, '\n\n')}\n`;
}

if (
  process.argv[1] !== undefined &&
  import.meta.url === pathToFileURL(process.argv[1]).href &&
  process.argv.includes('--write')
) {
  writeFileSync(SETTINGS_PAGE, renderSettingsPage());
}
