/** Processes of the benchmark: each of service, baseline, load generator and outside systems has one of its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every child, so that all are ended with the run. */
const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Ends the process with the run. */
export function trackChild(child: ChildProcess): ChildProcess {
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

/** A forked script of this folder that answers each message with one message. */
export interface Worker<Request, Answer> {
  pid: number;
  /** One message at a time. @throws Error when the process ends or answers with `{ problem }` */
  ask(request: Request): Promise<Answer>;
  stop(): Promise<void>;
}

export function startWorker<Request extends object, Answer>(script: string): Worker<Request, Answer> {
  const child = trackChild(fork(join(import.meta.dirname, script), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }));
  return {
    pid: child.pid!,
    ask: (request) =>
      new Promise((resolve, reject) => {
        const onExit = (code: number | null) => reject(new Error(`${script} ended with code ${code}`));
        child.once('exit', onExit);
        child.once('message', (message: { problem?: string }) => {
          child.off('exit', onExit);
          if (message.problem === undefined) resolve(message as Answer);
          else reject(new Error(`${script}: ${message.problem}`));
        });
        child.send(request);
      }),
    stop: () => endProcess(child, 'SIGTERM'),
  };
}

/** The other end of `startWorker`, for the script itself. */
export function answerQuestions<Request>(handle: (request: Request) => Promise<object>): void {
  process.on('message', (request: Request) => {
    handle(request).then(
      (answer) => process.send!(answer),
      (error: unknown) => process.send!({ problem: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
  });
  process.on('disconnect', () => process.exit(0));
}

/** Signals and waits; kills after `patienceMs`. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals, patienceMs = 10_000): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGCONT');
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  await exited;
  clearTimeout(timer);
}

/** Resident memory in MiB; null where the system does not report it. */
export function residentMiB(pid: number): number | null {
  try {
    const kib = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kib === undefined ? null : Number(kib) / 1024;
  } catch {
    return null;
  }
}

/** `sysconf(_SC_CLK_TCK)`, which is 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Processor time that the process has used, in seconds; null where the system does not tell. */
export function processorSeconds(pid: number): number | null {
  try {
    // The name in the second field may hold spaces; what follows its bracket does not.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return null;
  }
}

/** @throws Error where the system does not report the processor time of processes */
export function processorTime(pid: number): number {
  const seconds = processorSeconds(pid);
  if (seconds === null) throw new Error('this system does not report the processor time of a process');
  return seconds;
}
