import { describe, expect, it } from 'vitest';
import { checkCitations } from '../../../scripts/spec-references/citations.ts';
import { readSpecFile } from '../../../scripts/spec-references/specification.ts';

const decisions = readSpecFile(
  '00',
  '# 00\n## HTTP\n| Topic | Decision |\n| Status codes | 400 |\n## Ledger\n- Lock order: users first.',
);
const access = readSpecFile('01', '## 5. Sign-in\n### 5.1 Mail\n1. a\n2. b\n## 19. Hazards\n| H1 | x |\n| H12 | y |');
const growth = readSpecFile('04', '## 7. Codes\n### 7.5 Hazards\n1. first\n2. second\n### 9.6 Hazards\n1. third');
const content = readSpecFile('05', '## 10. Media\nHazards: (a) one; (b) two.');
const operations = readSpecFile('06', '## 2. Events\n### 2.3a Late ones\n## 17. Hazards and invariants\n6. six\n7. seven');
const measured = readSpecFile('08', '| P14 | x |\n| L1 | y |');
const files = new Map([decisions, access, growth, content, operations, measured].map((file) => [file.number, file]));

const inComment = (citation: string) => checkCitations(`/** Text (${citation}). */`, files);

describe('citations of the specification', () => {
  it.each([
    ['spec 01', 1],
    ['spec 01 section 5.1', 2],
    ['Spec 06 section 2.3a', 2],
    ['spec 01 sections 5, 5.1 and 19', 4],
    ['spec 01 sections 5 to 19', 3],
    ['spec 01 section 5.1, step 2', 3],
    ['spec 01 section 5.1, steps 1 and 2', 4],
    ['spec 01 H12', 2],
    ['spec 01 H1, H12', 3],
    ['spec 01 section 5.1, H1 and H12', 4],
    ['spec 01 section 5.1; spec 06 section 2.3a, spec 01 H1', 6],
    ['spec 04 section 7.5, hazard 2', 3],
    ['spec 04 section 7.5, hazards 1 and 2', 4],
    ['spec 05 section 10, hazard b', 3],
    ['spec 06 hazard 7', 2],
    ['spec 06 section 2 and section 17, hazard 6', 4],
    ['spec 00, Ledger', 2],
    ['spec 00, HTTP, status codes', 3],
    ['spec 00, Ledger and lock order', 3],
    ['spec 08 P14', 2],
    ['08 L1', 2],
    ['04 section 7.5', 2],
    ['RFC 6455 section 5.2', 0],
  ])('resolves "%s"', (citation, count) => {
    expect(inComment(citation)).toEqual({ resolved: count, problems: [] });
  });

  it.each([
    ['spec 02', 'spec 02', 'no such file in docs/spec'],
    ['spec 01 section 5.2', 'spec 01 section 5.2', 'spec 01 has no section 5.2'],
    ['spec 01 sections 5.1 and 6', 'spec 01 sections 5.1 and 6', 'spec 01 has no section 6'],
    ['spec 01 H13', 'spec 01 H13', 'spec 01 has no row H13'],
    ['spec 06 section 2, H1', 'spec 06 section 2, H1', 'spec 06 has no row H1'],
    ['spec 04 section 7.5, hazard 3', 'spec 04 section 7.5, hazard 3', 'spec 04 section 7.5 has no hazard 3'],
    ['spec 04 hazard 1', 'spec 04 hazard 1', 'name the section'],
    ['spec 01 section 5.1, step 3', 'spec 01 section 5.1, step 3', 'spec 01 section 5.1 has no step 3'],
    ['spec 00, Weather', 'spec 00, Weather', 'no topic "Weather"'],
    ['H1', 'H1', 'names no file; write `spec NN` before it'],
    ['hazard 7', 'hazard 7', 'names no file; write `spec NN` before it'],
    ['section 5.1', 'section 5.1', 'names no file; write `spec NN` before it'],
    ['spec 01 §5.1', '§', 'write `spec NN section x`'],
    ['guide section 7', 'guide section 7', 'a document outside of the repository; say the fact itself'],
  ])('reports "%s"', (citation, cited, problem) => {
    expect(inComment(citation).problems).toEqual([{ line: 1, citation: cited, problem }]);
  });

  it('takes the file of an earlier citation in the same comment, and of no other comment', () => {
    const text = [
      '/**',
      ' * First (spec 01 section 5.1).',
      ' * @throws 403 (H1)',
      ' */',
      '// Another (H1).',
      'call(); // (H12)',
    ].join('\n');
    expect(checkCitations(text, files).problems.map(({ line }) => line)).toEqual([5, 6]);
  });

  it('reads a citation that goes on in the next line, and names the line it begins in', () => {
    const text = [
      'code();',
      '/**',
      ' * One (spec 01',
      ' * section 5.1), another (spec 01 sections 5.1 and',
      ' * 5.3).',
      ' */',
    ].join('\n');
    expect(checkCitations(text, files)).toEqual({
      resolved: 4,
      problems: [{ line: 4, citation: 'spec 01 sections 5.1 and 5.3', problem: 'spec 01 has no section 5.3' }],
    });
  });

  it('reads test names, SQL comments and paragraphs', () => {
    expect(checkCitations("it('spec 01 H13: is refused', () => {", files).problems).toHaveLength(1);
    expect(checkCitations('-- Kept (spec 01\n-- H13).', files).problems).toHaveLength(1);
    expect(checkCitations('A paragraph\nwith spec 01\nsection 6.', files, { isMarkdown: true }).problems[0]).toMatchObject({
      line: 2,
    });
  });

  it('takes what names no file in the specification itself for the same file', () => {
    const text = 'See hazard 7 and section 2.3a, but spec 01 H1.\n\nSee section 5.1.';
    expect(checkCitations(text, files, { isMarkdown: true, home: operations }).problems).toEqual([
      { line: 3, citation: 'section 5.1', problem: 'spec 06 has no section 5.1' },
    ]);
  });
});
