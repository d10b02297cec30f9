// Writes src/generated/rows.ts from prisma/models: the row of each table as the SQL runner answers it (core/db/sql-runner.ts), and which
// column each field has. Prisma's own model types differ from it: they have bigint for int8 and an object for numeric.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modelsFolder = join(root, 'prisma', 'models');

/** Prisma's scalar types as the SQL runner returns them from node-postgres and PGlite. */
const SCALARS = {
  Int: 'number',
  BigInt: 'number',
  Float: 'number',
  Decimal: 'string',
  Boolean: 'boolean',
  DateTime: 'Date',
  String: 'string',
  Json: 'unknown',
};

const camelCase = (name) => name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());

function parseModel(name, body) {
  const table = /@@map\("([^"]+)"\)/.exec(body)?.[1] ?? name;
  const fields = [];
  for (const line of body.split('\n')) {
    const [, field, type, mark, rest] = /^\s+(\w+)\s+(\w+)(\[\]|\?)?(.*)$/.exec(line) ?? [];
    if (!field || !(type in SCALARS)) continue;
    const column = /@map\("([^"]+)"\)/.exec(rest)?.[1] ?? field;
    // The runner derives the field's name from the column's, so they must agree.
    if (camelCase(column) !== field) throw new Error(`${name}.${field}: column ${column} would be read as ${camelCase(column)}`);
    // A narrower type than the column's is written after the field: `status String /// 'open' | 'closed'`.
    const narrowed = /\/\/\/\s*(.+)$/.exec(rest)?.[1].trim();
    const scalar = narrowed ?? (mark === '[]' ? `${SCALARS[type]}[]` : SCALARS[type]);
    fields.push({
      field,
      column,
      type: mark === '?' && scalar !== 'unknown' ? `${scalar} | null` : scalar,
      isTime: type === 'DateTime',
    });
  }
  return { name, table, fields };
}

const models = readdirSync(modelsFolder)
  .sort()
  .flatMap((file) => [...readFileSync(join(modelsFolder, file), 'utf8').matchAll(/^model (\w+) \{\n([\s\S]*?)^\}/gm)])
  .map(([, name, body]) => parseModel(name, body));

const rows = models.map(
  ({ name, fields }) => `  ${name}: {\n${fields.map(({ field, type }) => `    ${field}: ${type};`).join('\n')}\n  };`,
);
const tables = models.map(({ name, table, fields }) => {
  const columns = fields.map(({ field, column }) => `${field}: '${column}'`).join(', ');
  const times = fields.filter(({ isTime }) => isTime).map(({ field }) => `'${field}'`);
  return `  ${name}: { table: '${table}', columns: { ${columns} }, times: [${times.join(', ')}] },`;
});

mkdirSync(join(root, 'src', 'generated'), { recursive: true });
writeFileSync(
  join(root, 'src', 'generated', 'rows.ts'),
  `// Generated from prisma/models by scripts/generate-rows.mjs.

/** A whole row of each table as \`db.sql\` answers it: int8 as number, numeric as text, jsonb parsed. */
export interface Rows {
${rows.join('\n')}
}

/** Table and columns of each model; \`times\` are the fields that are moments. */
export const TABLES = {
${tables.join('\n')}
} as const satisfies { [M in keyof Rows]: { table: string; columns: Record<keyof Rows[M], string>; times: readonly (keyof Rows[M])[] } };
`,
);
