import { listFiles, readFiles } from './source-files.ts';

export interface Model {
  name: string;
  /** Null without `@@map`, which every model has to have. */
  table: string | null;
  /** File of the model, from the root. */
  file: string;
  /** What the table contains: the line `///` directly above the model. */
  contents: string | null;
  /** Field to column; relations have none. */
  columns: Map<string, string>;
}

export function readModels(root: string): Model[] {
  const files = readFiles(root, listFiles(root, 'prisma', /\.prisma$/));
  const names = new Set(files.flatMap(({ text }) => [...text.matchAll(/^model (\w+)/gm)].map((match) => match[1]!)));
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(/^(?:\/\/\/ (.+)\n)?model (\w+) \{\n([\s\S]*?)^\}/gm)].map(([, contents, name, body]) => ({
      name: name!,
      table: /^\s*@@map\("(\w+)"\)/m.exec(body!)?.[1] ?? null,
      file: path,
      contents: contents ?? null,
      columns: readColumns(body!, names),
    })),
  );
}

function readColumns(body: string, models: ReadonlySet<string>): Map<string, string> {
  const columns = new Map<string, string>();
  for (const line of body.split('\n')) {
    const field = /^\s+([a-z]\w*)\s+(\w+)/.exec(line);
    if (field && !models.has(field[2]!)) columns.set(field[1]!, /@map\("(\w+)"\)/.exec(line)?.[1] ?? field[1]!);
  }
  return columns;
}
