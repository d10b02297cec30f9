/** What the files of docs/spec define and a citation may name: sections, hazards and numbered items, topics. */

/** One file of the specification. Section numbers are texts such as `2.1` or `12.3a`. */
export interface SpecFile {
  /** `00` to `10`, `03a`. */
  number: string;
  sections: ReadonlySet<string>;
  /** Ids of rows of tables and of lists whose items begin with one in bold type: `H5`, `P14`, `I3`, `M1`. */
  rows: ReadonlySet<string>;
  /** Numbered (`7`) and lettered (`a`) items by section. */
  items: ReadonlyMap<string, ReadonlySet<string>>;
  /** Sections whose heading says that they list hazards. */
  hazardSections: readonly string[];
  /** Headings, first cells of table rows and the words before a colon that open a paragraph; lower case, without numbers and markup. */
  topics: ReadonlySet<string>;
}

const plain = (text: string) => text.replace(/[*`]/g, '').trim().toLowerCase();

/** @param number as citations name the file, e.g. `03a` */
export function readSpecFile(number: string, markdown: string): SpecFile {
  const sections = new Set<string>();
  const rows = new Set<string>();
  const items = new Map<string, Set<string>>();
  const hazardSections: string[] = [];
  const topics = new Set<string>();
  let section = '';
  for (const line of markdown.split('\n')) {
    const heading = /^#+ (?:(\d+(?:\.\d+)*[a-z]?)\.? )?(.*)$/.exec(line);
    if (heading) {
      section = heading[1] ?? '';
      if (section !== '') sections.add(section);
      if (section !== '' && /^hazards\b/i.test(heading[2]!)) hazardSections.push(section);
      topics.add(plain(heading[2]!));
      continue;
    }
    const firstCell = /^\|\s*([^|]+?)\s*\|/.exec(line)?.[1];
    if (firstCell !== undefined) topics.add(plain(firstCell));
    if (firstCell !== undefined && /^[A-Z]\d+$/.test(plain(firstCell).toUpperCase())) rows.add(plain(firstCell).toUpperCase());
    const opensItem = /^- \*\*((?:[A-Z]\d+(?:, )?)+)/.exec(line)?.[1];
    for (const row of opensItem?.split(', ') ?? []) rows.add(row);
    // 03a names its cases in one line: `F1 …; F2 …`.
    if (/^[A-Z]1 .*; [A-Z]2 /.test(line)) for (const [, row] of line.matchAll(/(?:^|; )([A-Z]\d+) /g)) rows.add(row!);
    const opening = /^(?:- )?([^:|]{3,40}):/.exec(line)?.[1];
    if (opening !== undefined) topics.add(plain(opening));
    const found = [/^\s*(\d+)\. /.exec(line)?.[1], ...[...line.matchAll(/\(([a-z])\) /g)].map((match) => match[1])];
    for (const item of found) if (item !== undefined) items.set(section, (items.get(section) ?? new Set()).add(item));
  }
  return { number, sections, rows, items, hazardSections, topics };
}
