/** What a drill found: tables for the reader, and whether anything was violated. */

export interface Check {
  /** Where several drills are carried out, the name of this one. */
  of: string;
  title: string;
  isMet: boolean;
  /** The counts behind the verdict. */
  facts: string;
  /** First differences, for a check that is not met. */
  examples: readonly string[];
}

/** A number that a drill has measured, beside what was wanted. */
export interface Measured {
  /** As of a check. */
  of: string;
  /** What was done. */
  drill: string;
  name: string;
  measured: string;
  wanted: string;
  isMet: boolean;
}

const MAX_EXAMPLES = 5;

export class DrillReport {
  readonly #checks: Check[] = [];
  readonly #measured: Measured[] = [];
  readonly #drills: string[] = [];
  #part = '';

  /** Begins one of several drills. */
  beginDrill(name: string): void {
    this.#drills.push(name);
    this.#part = '';
  }

  /** Begins a part of the drill, which has the same checks as another one. */
  beginPart(name: string): void {
    this.#part = `${name}: `;
  }

  /** @param examples the violations; none = met */
  add(title: string, facts: string, examples: readonly string[]): void {
    this.#checks.push({
      of: this.#drills.at(-1) ?? '',
      title: `${this.#part}${title}`,
      isMet: examples.length === 0,
      facts,
      examples,
    });
  }

  addMeasured(result: Omit<Measured, 'of'>): void {
    this.#measured.push({ ...result, of: this.#drills.at(-1) ?? '', drill: `${this.#part}${result.drill}` });
  }

  /** Whether the checks alone are met: what was measured depends on the machine. */
  get areChecksMet(): boolean {
    return this.#checks.every(({ isMet }) => isMet);
  }

  get isMet(): boolean {
    return [...this.#checks, ...this.#measured].every(({ isMet }) => isMet);
  }

  render(): string {
    const rows = this.#checks.map((check) => [verdict(check.isMet), nameOf(check.of, check.title), check.facts]);
    const lines = [textTable(['', 'check', 'counts'], rows)];
    for (const { of, title, isMet, examples } of this.#checks) {
      if (isMet) continue;
      lines.push('', `${nameOf(of, title)}: ${examples.length} violations, the first of them:`);
      for (const example of examples.slice(0, MAX_EXAMPLES)) lines.push(`  ${example}`);
    }
    const results = this.#measured.map(({ of, drill, name, measured, wanted, isMet }) => [
      verdict(isMet),
      nameOf(of, drill),
      name,
      measured,
      wanted,
    ]);
    if (results.length > 0) lines.push('', textTable(['', 'drill', 'measure', 'measured', 'wanted'], results));
    return lines.join('\n');
  }

  /** Drill, figure, what was measured and what was wanted, for docs/scaling.md. */
  renderTable(): string {
    const measured = this.#measured.map(({ of, drill, name, measured, wanted, isMet }) => [
      of,
      `${drill}: ${name}`,
      measured,
      wanted,
      isMet,
    ]);
    const checks = this.#checks.map(({ of, title, facts, isMet }) => [of, title, facts, 'no violation', isMet]);
    const rows = [...measured, ...checks].map((row) => [...row.slice(0, 4), row[4] ? 'ok' : 'not met'] as string[]);
    const sorted = this.#drills.flatMap((name) => rows.filter(([of]) => of === name));
    return [['Drill', 'Figure', 'Measured', 'Wanted', ''], ['---', '---', '---', '---', '---'], ...sorted]
      .map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
      .join('\n');
  }
}

const nameOf = (of: string, title: string): string => (of === '' ? title : `${of}: ${title}`);

function verdict(isMet: boolean): string {
  return isMet ? 'ok' : 'VIOLATED';
}

/** Columns as wide as their widest cell. */
export function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, index) => Math.max(cell.length, ...rows.map((row) => row[index]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => cell.padEnd(widths[index]!))
      .join('  ')
      .trimEnd();
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

/** `a 3, b 1`, in the order of the keys. */
export function countsText(counts: ReadonlyMap<string | number, number>): string {
  return [...counts]
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))
    .map(([key, count]) => `${key}: ${count}`)
    .join(', ');
}
