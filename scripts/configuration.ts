/**
 * Compares `.env.example` and docs/configuration.md with the schema of the environment; `--write` writes them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { ENV_SCHEMA, namesOf, SECTIONS } from '../src/core/env-schema.ts';

interface Variable {
  name: string;
  effect: string;
  type: string;
  unit: string;
  bounds: string;
  /** As it would be given; empty = no value. */
  default: string;
  aliases: readonly string[];
  isSecret: boolean;
}

type Shape = Record<string, z.ZodType>;
const described = z.toJSONSchema(ENV_SCHEMA, { unrepresentable: 'any' }).properties as Record<
  string,
  z.core.JSONSchema.JSONSchema
>;

function variableOf(name: string, schema: z.ZodType): Variable {
  const json = described[name]!;
  const { enum: choices, minimum, maximum, default: fallback } = json;
  const isRange = minimum !== undefined && maximum !== undefined;
  return {
    name,
    effect: json.description ?? '',
    type: choices ? 'choice' : typeOf(json),
    unit: String(json.unit ?? ''),
    bounds: choices ? choices.join(' | ') : isRange ? `${minimum}..${maximum}` : '',
    default: Array.isArray(fallback) ? fallback.join(',') : typeof fallback === 'object' ? '' : String(fallback),
    aliases: namesOf(name, schema).slice(1),
    isSecret: json.isSecret === true,
  };
}

function typeOf({ type, anyOf }: z.core.JSONSchema.JSONSchema): string {
  const names = [type, ...(anyOf ?? []).map((option) => option.type)].flat();
  if (names.includes('array')) return 'list';
  return (['integer', 'number', 'boolean'] as const).find((name) => names.includes(name)) ?? 'string';
}

/** Every variable of the schema, by section of the documents. */
export const CONFIGURATION = Object.entries<Shape>(SECTIONS).map(([section, shape]) => ({
  section,
  variables: Object.entries(shape).map(([name, schema]) => variableOf(name, schema)),
}));

/** Comment lines of at most about 100 characters. */
function wrap(text: string): string[] {
  const lines = ['#'];
  for (const word of text.split(' ')) {
    const last = lines.length - 1;
    if (`${lines[last]} ${word}`.length > 100) lines.push(`# ${word}`);
    else lines[last] += ` ${word}`;
  }
  return lines;
}

function exampleOf(variable: Variable): string {
  const { name, effect, type, bounds, aliases, isSecret } = variable;
  const facts = [
    type,
    bounds,
    aliases.length > 0 ? `also read as ${aliases.join(', ')}` : '',
    isSecret ? `or a path in ${name}_FILE` : '',
  ];
  return [...wrap(effect), `# (${facts.filter(Boolean).join('; ')})`, `# ${name}=${variable.default}`].join('\n');
}

/** Text of `.env.example`: every variable with its effect and default, commented out. */
export function renderEnvExample(): string {
  const head = [
    '# Copy to .env in the project folder. Variables of the process take precedence over this file.',
    '# Every variable is optional in development; the commented lines show the defaults.',
    '# Every secret NAME can be given as NAME_FILE=/path/of/a/file instead.',
    '# Keys of the settings registry (panel, messenger, payment providers, prices ...) can be set here too;',
    '# a key that is set here cannot be changed through the settings interface.',
  ].join('\n');
  const sections = CONFIGURATION.map(({ section, variables }) => `## ${section}\n\n${variables.map(exampleOf).join('\n\n')}`);
  return `${[head, ...sections].join('\n\n')}\n`;
}

const PAGE_HEAD = `# Configuration

Variables of the environment that the service reads at start, from the process or from \`.env\` in the project folder; those of the process take
precedence. Generated from \`src/core/env-schema.ts\` by \`node scripts/on-runtime.mjs scripts/configuration.ts --write\`; \`npm run check\` compares.

- The start stops with one message that names every variable that is wrong. An empty value counts as not set; \`—\` as a default means that
  nothing is set.
- A boolean is \`true\`, \`1\`, \`yes\`, \`on\` or \`false\`, \`0\`, \`no\`, \`off\`. The items of a list are separated by commas.
- Every secret \`NAME\` can be given as \`NAME_FILE=/path/of/a/file\` instead.
- The settings of [settings.md](settings.md) can be given by variables of their names too.
`;

function rowOf({ name, type, unit, bounds, default: fallback, effect, aliases, isSecret }: Variable): string {
  const remarks = [isSecret ? 'Secret.' : '', aliases.length > 0 ? `Also read as \`${aliases.join('`, `')}\`.` : ''];
  const cells = [
    `\`${name}\``,
    type,
    unit,
    bounds,
    fallback === '' ? '—' : `\`${fallback}\``,
    [effect, ...remarks].filter(Boolean).join(' '),
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** Text of `docs/configuration.md`: the variables by section. */
export function renderConfigurationPage(): string {
  const head = '| Variable | Type | Unit | Bounds | Default | Effect |\n|---|---|---|---|---|---|';
  const sections = CONFIGURATION.map(
    ({ section, variables }) => `## ${section}\n\n${head}\n${variables.map(rowOf).join('\n')}\n`,
  );
  return [PAGE_HEAD, ...sections].join('\n');
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const [path, text] of [
    ['../.env.example', renderEnvExample()],
    ['../docs/configuration.md', renderConfigurationPage()],
  ] as const) {
    const url = new URL(path, import.meta.url);
    if (process.argv.includes('--write')) writeFileSync(url, text);
    else if (readFileSync(url, 'utf8') !== text) {
      console.error(`${path.slice(3)} is not current (run: node scripts/on-runtime.mjs scripts/configuration.ts --write)`);
      process.exitCode = 1;
    }
  }
}
