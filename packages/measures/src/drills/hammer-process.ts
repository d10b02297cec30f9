/** Runs the hammer, reads its book from the disk while it writes, and kills it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { endProcess, trackChild } from '../bench/child-process.ts';
import type { Fixture } from './fixture.ts';
import type { HammerOrder } from './hammer.ts';
import { WriteBook } from './write-book.ts';
import { readRecords } from './write-journal.ts';

export interface Hammer {
  /** What its book on the disk says, at most `LOOK_MS` ago. */
  readonly book: WriteBook;
  /** SIGKILL in the middle of its calls, then it is started again on its book. @returns how many writes were not acknowledged at the kill */
  kill(): Promise<number>;
  /** Lets it finish what it began. @throws Error when it had ended by itself */
  stop(): Promise<void>;
  /** Ends it at once. */
  end(): Promise<void>;
}

const LOOK_MS = 50;
const NEW_LINE = 0x0a;

/** @param order all but the target, which is that of the fixture; the book is written to the folder of the fixture's logs */
export async function startHammer(fixture: Fixture, order: Pick<HammerOrder, 'seed' | 'load' | 'stop'>): Promise<Hammer> {
  const { apiToken, userIds, tokenOf, tariffId, priceKopeks, callbackSecret, payments, logFolder } = fixture;
  const tokens = Object.fromEntries(userIds.map((id) => [id, tokenOf(id)]));
  const target = { apiToken, userIds, tokens, tariffId, priceKopeks, callbackSecret, payments };
  const orderPath = join(logFolder, 'hammer.json');
  const journal = join(logFolder, 'hammer.jsonl');
  const whole: HammerOrder = { ...order, target, journal };
  await writeFile(orderPath, JSON.stringify(whole), { mode: 0o600 });
  await writeFile(journal, '');
  const book = new WriteBook();
  const { read, close } = openReader(journal, book);
  const timer = setInterval(read, LOOK_MS);
  const launch = (): ChildProcess =>
    trackChild(
      spawn(process.execPath, [join(import.meta.dirname, 'hammer.ts'), orderPath], { stdio: ['ignore', 'inherit', 'inherit'] }),
    );
  let child = launch();
  const end = async (): Promise<void> => {
    clearInterval(timer);
    await endProcess(child, 'SIGKILL');
    close();
  };
  return {
    book,
    end,
    kill: async () => {
      await endProcess(child, 'SIGKILL');
      read();
      const open = book.writes.filter(({ isAcknowledged }) => !isAcknowledged).length;
      child = launch();
      return open;
    },
    stop: async () => {
      const exited =
        child.exitCode === null && child.signalCode === null ? once(child, 'exit') : Promise.resolve([child.exitCode]);
      child.kill('SIGTERM');
      const [code] = await exited;
      read();
      await end();
      if (code !== 0) throw new Error(`the hammer ended with ${code}, see ${journal}`);
    },
  };
}

/** Enters whole lines of a growing file into the book. A line that a killed process left unfinished is removed by the next one. */
function openReader(path: string, book: WriteBook): { read(): void; close(): void } {
  const file = openSync(path, 'r');
  const buffer = Buffer.alloc(1 << 20);
  let position = 0;
  let isClosed = false;
  return {
    read: () => {
      for (;;) {
        const length = isClosed ? 0 : readSync(file, buffer, 0, buffer.length, position);
        const end = buffer.subarray(0, length).lastIndexOf(NEW_LINE) + 1;
        if (end === 0) return;
        position += end;
        for (const record of readRecords(buffer.subarray(0, end).toString())) book.replay(record);
      }
    },
    close: () => {
      if (!isClosed) closeSync(file);
      isClosed = true;
    },
  };
}
