/** Finds the citations of the specification in a text and says which of them do not resolve (forms: docs/spec/README.md). */
import type { SpecFile } from './specification.ts';

interface Problem {
  /** Counted from 1. */
  line: number;
  /** What is cited, as written. */
  citation: string;
  problem: string;
}

export interface CitationCheck {
  /** How many sections, hazards, topics and files were cited and resolved. */
  resolved: number;
  problems: Problem[];
}

/** Text that belongs together: a comment, a paragraph, or a single line of code. A citation may continue on its next line. */
interface Block {
  text: string;
  /** Offset in `text` where each line begins, with its number. */
  lines: { offset: number; line: number }[];
}

const SECTION = String.raw`\d+(?:\.\d+)*[a-z]?\b`;
const ROW = String.raw`[A-Z]\d{1,2}\b`;
/** A citation of a file, a section or a hazard; what follows one is read by `readTail`. */
const START = new RegExp(
  [
    String.raw`\b[Ss]pecs? (?<spec>\d\d[a-z]?)\b`,
    String.raw`\b(?<short>0\d[a-z]?) (?=sections? \d|${ROW})`,
    String.raw`(?<foreign>\bRFC \d+,? |\bsource's )sections? \d`,
    String.raw`\b(?<guide>[Gg]uide|GUIDE),?(?: sections?)? \d`,
    String.raw`\b[Ss]ections? (?<section>(?=\d))`,
    String.raw`\b[Hh]azards? (?<hazard>(?=${ROW}|\d|[a-z]\b))`,
    String.raw`\b(?<row>H\d{1,2})\b`,
    '(?<sign>§)',
  ].join('|'),
  'g',
);

/** What a number in a citation counts; `none` before the first word that says so. */
type Mode = 'section' | 'hazard' | 'step' | 'item' | 'invariant' | 'none';

/** Splits a file: comments and paragraphs are one block each, any other line is one by itself. */
function blocksOf(text: string, isMarkdown: boolean): Block[] {
  const blocks: Block[] = [];
  let open: Block | null = null;
  let inComment = false;
  text.split('\n').forEach((raw, index) => {
    const begins = /^\s*\/\*/.test(raw);
    const lineComment = /^\s*(?:\/\/|--|#)/.test(raw);
    const belongs = isMarkdown ? /\S/.test(raw) && !/^\s*(?:\||#|- |\d+\. )/.test(raw) : (inComment && !begins) || lineComment;
    const content = isMarkdown ? raw.trim() : raw.replace(/^\s*(?:\/\*+|\*+(?!\/)|\/\/|--|#)?\s*/, '').trimEnd();
    if (open === null || !belongs) {
      open = { text: '', lines: [] };
      blocks.push(open);
    }
    open.lines.push({ offset: open.text.length, line: index + 1 });
    open.text += `${content} `;
    if (begins) inComment = true;
    if (raw.includes('*/')) inComment = false;
    if (!isMarkdown && !inComment && !lineComment) open = null;
    if (isMarkdown && !/\S/.test(raw)) open = null;
  });
  return blocks;
}

class BlockCheck {
  resolved = 0;
  readonly problems: Problem[] = [];
  private file: SpecFile | undefined;
  private section = '';
  /** Offset up to which the text has been read. */
  private readTo = 0;
  private readonly block: Block;
  private readonly files: ReadonlyMap<string, SpecFile>;

  constructor(block: Block, files: ReadonlyMap<string, SpecFile>, home: SpecFile | undefined) {
    this.block = block;
    this.files = files;
    this.file = home;
  }

  run(): void {
    const { text } = this.block;
    for (const start of text.matchAll(START)) {
      if (start.index < this.readTo) continue;
      const groups = start.groups!;
      const after = start.index + start[0].length;
      if (groups.foreign !== undefined) {
        this.readTo = after;
      } else if (groups.guide !== undefined) {
        this.report(start.index, after, 'a document outside of the repository; say the fact itself');
      } else if (groups.sign !== undefined) {
        this.report(start.index, after, 'write `spec NN section x`');
      } else if (groups.spec !== undefined || groups.short !== undefined) {
        this.readFile(start.index, after, (groups.spec ?? groups.short)!);
      } else {
        this.readTail(
          start.index,
          groups.row === undefined ? after : start.index,
          groups.section !== undefined ? 'section' : 'hazard',
        );
      }
    }
  }

  private readFile(from: number, after: number, number: string): void {
    this.file = this.files.get(number);
    this.section = '';
    if (!this.file) {
      this.report(from, after, 'no such file in docs/spec');
      return;
    }
    this.resolved++;
    this.readTo = after;
    const topics = /^, (?!(?:sections?|hazards?|specs?) |[HPCLSIW]\d|0\d)([^).;:?"]+)/.exec(this.block.text.slice(after));
    if (topics === null) {
      this.readTail(from, after, 'none');
      return;
    }
    this.readTo = after + topics[0].length;
    const whole = topics[1]!.trim();
    const names = this.file.topics.has(whole.toLowerCase()) ? [whole] : whole.split(/, | and /);
    for (const name of names)
      this.resolve(from, this.readTo, this.file.topics.has(name.trim().toLowerCase()), `no topic "${name}"`);
  }

  /** Reads what a citation lists: `section 2.1, H5 and H6`, `sections 2.1 to 2.5, hazard 3`, `section 8, steps 2 and 3`. */
  private readTail(from: number, start: number, first: 'section' | 'hazard' | 'none'): void {
    const { text } = this.block;
    let mode: Mode = first;
    let at = start;
    for (let isFirst = true; ; isFirst = false) {
      const token = new RegExp(
        String.raw`(?<gap>${isFirst ? ' ?,? ?' : '(?:[,;]? (?:and|or|to) |[,;] | )'})(?:(?<word>sections?|hazards?|steps?|items?|invariants?) )?(?<id>${ROW}|${SECTION}|[a-z]\b)`,
        'y',
      );
      token.lastIndex = at;
      const match = token.exec(text);
      if (!match) break;
      const { gap, word, id } = match.groups as { gap: string; word?: string; id: string };
      if (word) mode = word.replace(/s$/, '') as Mode;
      const isRow = /^[A-Z]/.test(id);
      if (!isRow && (mode === 'none' || (!isFirst && !word && (gap === ' ' || gap === '; ')))) break;
      if (/^[a-z]$/.test(id) && !(mode === 'hazard' && word)) break;
      at = match.index + match[0].length;
      this.readTo = at;
      this.resolveId(from, at, isRow ? 'row' : mode, id);
    }
    if (at === start && first !== 'none') this.report(from, start + 8, 'cannot be read');
  }

  private resolveId(from: number, to: number, mode: Mode | 'row', id: string): void {
    const { file } = this;
    if (!file) {
      this.report(from, to, 'names no file; write `spec NN` before it');
      return;
    }
    if (mode === 'row') {
      this.resolve(from, to, file.rows.has(id), `spec ${file.number} has no row ${id}`);
    } else if (mode === 'section') {
      this.section = id;
      this.resolve(from, to, file.sections.has(id), `spec ${file.number} has no section ${id}`);
    } else {
      const section = this.section !== '' || file.hazardSections.length !== 1 ? this.section : file.hazardSections[0]!;
      const known = file.items.get(section)?.has(id) ?? false;
      this.resolve(
        from,
        to,
        known,
        section === '' ? 'name the section' : `spec ${file.number} section ${section} has no ${mode} ${id}`,
      );
    }
  }

  private resolve(from: number, to: number, known: boolean, problem: string): void {
    if (known) this.resolved++;
    else this.report(from, to, problem);
  }

  private report(from: number, to: number, problem: string): void {
    this.readTo = Math.max(this.readTo, to);
    const line = this.block.lines.findLast((entry) => entry.offset <= from)!.line;
    this.problems.push({ line, citation: this.block.text.slice(from, to).trim(), problem });
  }
}

/**
 * @param files the specification by file number
 * @param home the file of the specification that the text itself is: citations without a file refer to it
 */
export function checkCitations(
  text: string,
  files: ReadonlyMap<string, SpecFile>,
  options: { isMarkdown?: boolean; home?: SpecFile } = {},
): CitationCheck {
  const result: CitationCheck = { resolved: 0, problems: [] };
  for (const block of blocksOf(text, options.isMarkdown ?? false)) {
    const check = new BlockCheck(block, files, options.home);
    check.run();
    result.resolved += check.resolved;
    result.problems.push(...check.problems);
  }
  return result;
}
