import { describe, expect, it } from 'vitest';
import { brokenRules } from '../../../scripts/check-tests.ts';
import {
  DIFFERS,
  filesForBothDatabases,
  filesLeftOut,
  filesOfProcesses,
  ON_A_DATABASE,
  testFilesOf,
} from '../../../scripts/test-plan.mjs';

// Raw SQL of this file: lines for the check, which reads this file too: what no comment explains is put together from two parts.
describe('the style of tests', () => {
  it('finds a semicolon in the name of a test, also of a table and of a group', () => {
    // The check reads this file too, so ¦ stands for the semicolon.
    const source = [
      "it('is refused¦ nothing is changed', () => {})",
      "test.each(cases(1))('%s¦ other', () => {})",
      "describe('a group', () => { const text = 'a¦ b' })",
      'test(`of one¦ and more`, () => {})',
      "z.string().describe('of a field¦ no test')",
    ]
      .join('\n')
      .replaceAll('¦', ';');
    expect(brokenRules(source)['name with a semicolon']).toEqual([1, 2, 4]);
  });

  it('finds rows that no builder makes, spread literals and errors without a name', () => {
    const source = [
      'await sql("INSERT INTO users (id) VALUES (1)");',
      'const a = { ..' + '.{ b: 1, c: 2 }, ...rest };',
      'expect(f).toThrow(' + ');',
      "expect(f).toThrow('not found');",
      'expect(f).not.toThrow();',
    ].join('\n');
    expect(brokenRules(source)).toMatchObject({ 'raw INSERT': [1], 'spread literal': [2], 'bare toThrow': [3] });
  });

  it('takes SQL for which a comment gives the reason, up to the next empty line', () => {
    const source = [
      '// Raw SQL: the guard refuses it.',
      'await sql("INSERT INTO users (id) VALUES (1)");',
      'await sql("SELECT 1 FROM domain_events");',
      '',
      'await sql("INSERT INTO users (id) VALUES (2)");',
      'await sql("SELECT 1 FROM domain_events");',
    ].join('\n');
    expect(brokenRules(source)).toMatchObject({ 'raw INSERT': [5], 'events by SQL': [6] });
  });

  it('takes all SQL of a file whose comment says so', () => {
    const source = '// Raw SQL of this file: old tables.\n\nsql("INSERT INTO a VALUES (1)");\n\nsql("INSERT INTO b VALUES (1)");';
    expect(brokenRules(source)['raw INSERT']).toEqual([]);
  });
});

describe('the plan of the tests', () => {
  it('names only files and folders that exist', () => {
    for (const [path] of DIFFERS) expect(testFilesOf([path]), path).not.toEqual([]);
  });

  it('runs every file on a difference in the whole, a third of them in a sample', () => {
    const all = testFilesOf(DIFFERS.map(([path]) => path));
    expect(filesForBothDatabases('1', { isWhole: true }).differing).toEqual(all);
    const thirds = Array.from({ length: 20 }, (_value, seed) => filesForBothDatabases(String(seed)).differing);
    expect(thirds.map((third) => third.length)).toEqual(Array(20).fill(Math.ceil(all.length / 3)));
    expect([...new Set(thirds.flat())].sort()).toEqual(all);
  });

  it.each([true, false])('leaves no long file out with every seed (whole: %s)', (isWhole) => {
    const seeds = Array.from({ length: 100 }, (_value, seed) => filesLeftOut(String(seed), { isWhole }));
    expect(seeds[0]).not.toEqual([]);
    expect(seeds[0]!.filter((path) => seeds.every((leftOut) => leftOut.includes(path)))).toEqual([]);
  });

  it('runs with any seed the same sample of the files without a difference', () => {
    const { differing, sample } = filesForBothDatabases('1');
    expect(filesForBothDatabases('1').sample).toEqual(sample);
    expect(filesForBothDatabases('2').sample).not.toEqual(sample);
    expect(filesForBothDatabases('1', { isWhole: true }).sample.length).toBeGreaterThan(5 * sample.length);
    for (const path of sample) {
      expect(
        ON_A_DATABASE.some((folder) => path.startsWith(folder)),
        path,
      ).toBe(true);
      expect(differing).not.toContain(path);
    }
  });

  it('starts and stops the service in every run, and reaches every test of processes but the longest by some seed', () => {
    const seeds = Array.from({ length: 100 }, (_value, seed) => String(seed));
    const reached = new Set(seeds.flatMap(filesOfProcesses));
    const all = testFilesOf(['tests/system/']);
    const longest = new Set(seeds.flatMap((seed) => filesLeftOut(seed, { isWhole: true })));
    expect([...reached].sort()).toEqual(all.filter((path) => !longest.has(path)));
    expect(filesOfProcesses('1')).toContain('tests/system/start-stop.test.ts');
    expect(filesOfProcesses('1')).toEqual(filesOfProcesses('1'));
  });
});
