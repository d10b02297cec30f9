/**
 * Compares docs/schema.md with the schema: tables with their owners and what they contain (`///` above each model of prisma/models), triggers
 * and functions with what they are for (`---` above each of them in prisma/sql). `--write` writes it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readModels } from './checks/prisma-schema.ts';
import { listFiles, projectRoot, readFiles } from './checks/source-files.ts';
import { moduleOfFile, ownersOf, TABLE_OWNERS } from './table-owners.ts';

/** What has no model and no file of prisma/sql. */
const OF_MIGRATIONS = {
  tables: {
    schema_migrations: 'applied migrations (made by `core/db/migrate.ts`)',
    schema_sql: 'applied topics of `prisma/sql` with what they created (made by `core/db/apply-topics.ts`)',
  },
  functions: {
    user_search_text: 'the searched text of a user, for the indexes `users_search` and `users_admin_search`',
    search_windows: 'the windows of up to three characters of a text, for the same indexes',
    payment_bucket:
      'what a payment is to administrators: paid, pending or cancelled; for the indexes `payments_bucket` and `payments_method_bucket`',
  },
};

interface SqlObject {
  name: string;
  file: string;
  purpose: string;
  /** The whole statement, without comments and texts. */
  text: string;
}

const topics = readFiles(projectRoot, listFiles(projectRoot, 'prisma/sql', /\.sql$/));
const sources = readFiles(projectRoot, listFiles(projectRoot, 'src')).filter(({ path }) => !path.startsWith('src/generated/'));
const problems: string[] = [];

function objectsOf(kind: 'FUNCTION' | 'TRIGGER'): SqlObject[] {
  const head = new RegExp(String.raw`^(?:--- (.+)\n)?CREATE OR REPLACE ${kind} (\w+)`);
  return topics.flatMap(({ path, text }) =>
    text.split(/^(?=---\s|(?<!^---.*\n)CREATE OR REPLACE)/m).flatMap((statement) => {
      const [, purpose, name] = head.exec(statement) ?? [];
      if (name === undefined) return [];
      if (purpose === undefined) problems.push(`${path}: ${name} has no line \`--- what it is for\` directly above it`);
      return [{ name, file: basename(path), purpose: purpose ?? '', text: statement.replace(/--.*|'[^']*'/g, '') }];
    }),
  );
}

function tableRows(): string[][] {
  const contents = new Map<string, string>(Object.entries(OF_MIGRATIONS.tables));
  for (const model of readModels(projectRoot)) {
    if (model.contents === null)
      problems.push(`${model.file}: model ${model.name} has no line \`/// what it contains\` directly above it`);
    contents.set(model.table ?? model.name, model.contents ?? '');
  }
  return Object.keys(TABLE_OWNERS).map((table) => [ownersOf(table).join(', '), `\`${table}\``, contents.get(table) ?? '']);
}

const functions = objectsOf('FUNCTION');
const triggers = objectsOf('TRIGGER');

function triggerRow({ name, purpose, text }: SqlObject): string[] {
  const [, time, event] = /TRIGGER \w+\s+(BEFORE|AFTER)\s+([\s\S]*?)\s+ON\s+\w+/.exec(text)!;
  const events = ['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE'].filter((one) => event!.includes(one)).join(' or ');
  const scope = /FOR EACH ROW/.test(text) ? '' : ', by statement';
  const table = /\sON\s+(\w+)/.exec(text)![1]!;
  const called = /EXECUTE FUNCTION (\w+)/.exec(text)![1]!;
  return [`\`${table}\``, `\`${name}\``, `${time} ${events}`.toLowerCase() + scope, `\`${called}\``, purpose];
}

/** Functions, modules and triggers that call it; operators where nothing in the service does. */
function callersOf(name: string): string {
  const call = new RegExp(String.raw`\b${name}\s*\(`);
  const inSql = functions.filter((other) => other.name !== name && call.test(other.text)).map((other) => `\`${other.name}\``);
  const modules = new Set(sources.filter(({ text }) => call.test(text)).map(({ path }) => `\`${moduleOfFile(path)}\``));
  const isTriggers = triggers.some(({ text }) => new RegExp(String.raw`EXECUTE FUNCTION ${name}\b`).test(text));
  const callers = [...(isTriggers ? ['triggers'] : []), ...inSql, ...[...modules].sort()];
  return callers.length > 0 ? callers.join(', ') : 'operators';
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

const functionRows = [
  ...Object.entries(OF_MIGRATIONS.functions).map(([name, purpose]) => ({ name, purpose, file: 'migrations' })),
  ...functions,
].map(({ name, purpose, file }) => [`\`${name}\``, file === 'migrations' ? file : `\`${file}\``, purpose, callersOf(name)]);

const page = `# Tables, triggers and functions

Made from the schema by \`node scripts/on-runtime.mjs scripts/schema-doc.ts --write\`. What they mean together: [database.md](database.md).

## Tables by owner

The owner is the module in \`src/domain\` (or \`core\`) that writes the table. Other modules change it by calling the owner's functions.

${table(['Owner', 'Table', 'Contents'], tableRows())}

## Triggers

A condition in the trigger (\`WHEN\`) skips changes that do not concern it; see the topic file.

${table(
  ['Table', 'Trigger', 'When', 'Function', 'Why'],
  triggers.map(triggerRow).sort(([one, name], [other, otherName]) => (`${one} ${name}` < `${other} ${otherName}` ? -1 : 1)),
)}

## Functions

Functions that nothing in the service calls are for operators, after bulk loads.

${table(['Function', 'Defined in', 'Purpose', 'Called by'], functionRows)}
`;

const file = join(projectRoot, 'docs', 'schema.md');
if (process.argv.includes('--write')) writeFileSync(file, page);
else if (readFileSync(file, 'utf8') !== page) problems.push('docs/schema.md is not current (run this with --write)');
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
