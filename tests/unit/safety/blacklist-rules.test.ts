import { describe, expect, it } from 'vitest';
import { parseBlacklist, pauseAfter, rawListUrl } from '../../../src/domain/safety/rules.ts';

describe('parseBlacklist', () => {
  it('reads ids, user names and reasons, and skips everything else', () => {
    const text = [
      '# published list',
      '',
      '123456789',
      '  555 @Spam_Bot  , sells stolen accounts, twice # seen in May',
      '777 some words @other',
      '888,reason only',
      '999 # comment',
      '123x',
      'word 5',
      '-5',
      '0',
      '@name',
      '99999999999999999999',
      '777 @newer',
    ].join('\r\n');
    expect(parseBlacklist(text)).toEqual([
      { messengerId: 123456789, username: null, reason: null },
      { messengerId: 555, username: 'spam_bot', reason: 'sells stolen accounts, twice' },
      { messengerId: 777, username: 'newer', reason: null },
      { messengerId: 888, username: null, reason: 'reason only' },
      { messengerId: 999, username: null, reason: null },
    ]);
  });

  it('is total', () => {
    expect(parseBlacklist('')).toEqual([]);
    expect(parseBlacklist('<!doctype html>\n<p>1')).toEqual([]);
  });
});

it.each([
  ['https://github.com/owner/list/blob/main/dir/black.txt', 'https://raw.githubusercontent.com/owner/list/main/dir/black.txt'],
  [
    'https://www.github.com/owner/list/blob/main/black.txt?plain=1',
    'https://raw.githubusercontent.com/owner/list/main/black.txt',
  ],
  ['https://raw.githubusercontent.com/owner/list/main/black.txt', 'https://raw.githubusercontent.com/owner/list/main/black.txt'],
  ['https://evil.example/github.com/owner/list/blob/main/x', 'https://evil.example/github.com/owner/list/blob/main/x'],
])('%s is fetched from %s', (page, raw) => {
  expect(rawListUrl(page)).toBe(raw);
});

it('waits longer after each failure, an hour at most', () => {
  expect([1, 2, 3, 7, 50].map((failures) => pauseAfter(failures) / 60_000)).toEqual([1, 2, 4, 60, 60]);
});
