/** Where log lines go: lines of a short time leave in one write, because a write for each would cost more than making the line. */
import { type DestinationStream, destination as openDestination } from 'pino';

/** Longest time for which a line below `error` waits. A process that is killed loses at most the lines of this time. */
const LONGEST_WAIT_MS = 50;
/** Bytes that are written without waiting. */
const ENOUGH_BYTES = 4_096;
/** pino's number of the level `error`. */
const ERROR = 50;
/** Makes pino set `lastLevel` before each line. */
const WITH_LEVEL = Symbol.for('pino.metadata');

export interface LogOutput extends DestinationStream {
  /** Level of the line that is written next, set by pino. */
  lastLevel: number;
  /** Starts to write what waits; pino calls it from `logger.flush`. */
  flush(done?: (error?: Error) => void): void;
  /** Writes what waits before it returns; pino calls it after a `fatal` line. */
  flushSync(): void;
  /** Writes what waits and closes the file. Nothing can be written any more. */
  end(): Promise<void>;
}

/**
 * A line of `error` leaves at once, with all that wait before it; a `fatal` line is written when the call returns, and so is everything
 * when the process exits by itself.
 * @param descriptor of an open file, 1 = standard output
 */
export function openLogOutput(descriptor: number): LogOutput {
  // At the exit of the process pino writes what such a destination still has.
  const destination = openDestination({ dest: descriptor, sync: false, minLength: ENOUGH_BYTES });
  let timer: NodeJS.Timeout | null = null;
  let isWanted = false;
  let isEnded = false;

  function writeSoon(): void {
    if (isEnded) return;
    isWanted = true;
    destination.flush();
  }
  function onTime(): void {
    timer = null;
    writeSoon();
  }
  // While a write is under way `flush` does nothing: what came in the meantime follows now.
  destination.on('drain', () => {
    if (!isWanted || isEnded) return;
    isWanted = false;
    destination.flush();
  });

  const output = {
    lastLevel: 0,
    write(line: string): void {
      destination.write(line);
      // Not a fatal one: pino calls `flushSync` for it, which could not write what is already on its way.
      if (output.lastLevel === ERROR) writeSoon();
      else timer ??= setTimeout(onTime, LONGEST_WAIT_MS).unref();
    },
    flush: (done?: (error?: Error) => void) => destination.flush(done),
    flushSync: () => destination.flushSync(),
    end: () =>
      new Promise<void>((resolve) => {
        isEnded = true;
        if (timer !== null) clearTimeout(timer);
        destination.once('close', resolve);
        destination.end();
      }),
  };
  return Object.assign(output, { [WITH_LEVEL]: true });
}
