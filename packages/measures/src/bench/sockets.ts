/** Runs the fan-out measurement as it is (`ws-fanout.ts`) and reads its results. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { trackChild } from './child-process.ts';

export interface SocketResult {
  sockets: number;
  askedPerSecond: number;
  received: number;
  expected: number;
  p99Ms: number;
  loopDelayP99Ms: number;
  floodPerSecond: number;
  lines: string[];
}

export const MESSAGES_PER_SECOND = 30_000;

export async function measureSockets(sockets: number, seconds: number): Promise<SocketResult> {
  const args = [join(import.meta.dirname, 'ws-fanout.ts'), String(sockets), String(MESSAGES_PER_SECOND), String(seconds)];
  const child = trackChild(spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }));
  let text = '';
  child.stdout!.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`ws-fanout ended with code ${code}\n${text}`);
  const value = (pattern: RegExp): number => {
    const found = pattern.exec(text)?.[1];
    if (found === undefined) throw new Error(`ws-fanout said nothing of ${pattern}\n${text}`);
    return Number(found);
  };
  return {
    sockets,
    askedPerSecond: MESSAGES_PER_SECOND,
    received: value(/received (\d+) of/),
    expected: value(/received \d+ of (\d+)/),
    p99Ms: value(/p99 ([\d.]+) ms, max/),
    loopDelayP99Ms: value(/event loop delay p99 ([\d.]+)/),
    floodPerSecond: value(/as fast as received: (\d+)/),
    lines: text.trim().split('\n'),
  };
}
