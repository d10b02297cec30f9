import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { FanOut, type Listener } from '../../../src/realtime/feed.ts';

/** What the fan-out does before it lets the event loop continue. */
const SLICE = 500;

class TestListener implements Listener {
  firstFrame: number;
  readonly writes: string[] = [];

  constructor(firstFrame: number) {
    this.firstFrame = firstFrame;
  }

  get text(): string {
    return this.writes.join('');
  }

  sendLive(bytes: Buffer): void {
    this.writes.push(String(bytes));
  }
}

let clients: Set<TestListener>;
let fanOut: FanOut;

beforeEach(() => {
  clients = new Set();
  fanOut = new FanOut(clients);
});

function joined(firstFrame = fanOut.next): TestListener {
  const client = new TestListener(firstFrame);
  clients.add(client);
  return client;
}

const publish = (...frames: string[]) => {
  for (const frame of frames) fanOut.publish(Buffer.from(frame));
};

describe('the fan-out', () => {
  it('sends frames that were published together in one write, in their order', async () => {
    const [one, two] = [joined(), joined()];
    publish('a', 'bc', 'd');
    expect(one.writes).toEqual([]);
    await fanOut.idle();
    expect([one.writes, two.writes]).toEqual([['abcd'], ['abcd']]);
    publish('e');
    await fanOut.idle();
    expect(one.writes).toEqual(['abcd', 'e']);
  });

  it.each([0, 1, 2, 3])('sends a client that joins after %d of three waiting frames exactly the later ones', async (before) => {
    const first = joined();
    const frames = ['first,', 'second,', 'third,'];
    publish(...frames.slice(0, before));
    const late = joined();
    publish(...frames.slice(before));
    await fanOut.idle();
    expect(first.text).toBe('first,second,third,');
    expect(late.text).toBe(frames.slice(before).join(''));
    publish('fourth');
    await fanOut.idle();
    expect(late.text).toBe([...frames.slice(before), 'fourth'].join(''));
  });

  it('counts frames that nobody received: a client that joins later misses none', async () => {
    publish('a', 'b');
    const first = joined();
    const position = fanOut.next;
    publish('c');
    const second = joined();
    await fanOut.idle();
    publish('d');
    await fanOut.idle();
    expect([position, first.text, second.text]).toEqual([2, 'cd', 'd']);
  });

  it('does not send what was published before a client left and joined again', async () => {
    const client = joined();
    publish('a');
    client.firstFrame = Number.POSITIVE_INFINITY;
    publish('b');
    client.firstFrame = fanOut.next;
    publish('c');
    await fanOut.idle();
    expect(client.text).toBe('c');
  });

  it('sends nothing to a client that is still given what it missed', async () => {
    const client = joined(Number.POSITIVE_INFINITY);
    const other = joined();
    publish('a', 'b');
    await fanOut.idle();
    expect([client.writes, other.text]).toEqual([[], 'ab']);
  });

  it('serves a long list in slices, where who joins between them receives only later frames, and who has left nothing', async () => {
    const all = Array.from({ length: 2 * SLICE + 1 }, () => joined());
    publish('a');
    await nextTurn();
    expect(all.map(({ text }) => text).filter((text) => text === 'a')).toHaveLength(SLICE);
    const gone = all[2 * SLICE]!;
    clients.delete(gone);
    const late = joined();
    publish('b', 'c');
    const latest = joined();
    publish('d');
    await fanOut.idle();
    expect(new Set(all.slice(0, -1).map(({ text }) => text))).toEqual(new Set(['abcd']));
    expect([gone.text, late.text, latest.text]).toEqual(['', 'bcd', 'd']);
  });

  it('limits the size of a write, and keeps the numbers right over several', async () => {
    const large = 'x'.repeat(150 * 1024);
    const first = joined();
    publish(`1${large}`, `2${large}`);
    const late = joined();
    publish(`3${large}`, '4', `5${'y'.repeat(300 * 1024)}`);
    await fanOut.idle();
    expect(first.text).toBe(`1${large}2${large}3${large}45${'y'.repeat(300 * 1024)}`);
    expect(late.text).toBe(`3${large}45${'y'.repeat(300 * 1024)}`);
    expect(first.writes.map((write) => write[0])).toEqual(['1', '2', '3', '5']);
  });

  it('is idle at once when nothing waits', async () => {
    await fanOut.idle();
    const client = joined();
    publish('a');
    const idle = fanOut.idle();
    expect(client.writes).toEqual([]);
    await idle;
    expect(client.text).toBe('a');
  });
});
