/** The clock and the names of the machine of a service process, as the test changes them while the process runs; nothing of this machine changes. */
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const PRELOAD = join(import.meta.dirname, '..', 'fixtures', 'changed-machine', 'preload.ts');
const HERE = '127.0.0.1';
/** An address of loopback at which the test serves nothing: connections are refused. */
const NOBODY = '127.0.0.2';

export interface ChangedMachine {
  /** For the process. */
  environment: Record<string, string>;
  /**
   * Where the names, all below `.invalid`, lead from now on: to this machine, to one that refuses connections, or nowhere, as without
   * servers of names.
   */
  lead(names: readonly string[], to: 'here' | 'refused' | 'nowhere'): Promise<void>;
  /** Moves the clock of a running process by so much from the true time. Its database keeps the true time. */
  jump(process: ChildProcess, clockMs: number): Promise<void>;
  remove(): Promise<void>;
}

/** @param names that lead to this machine at first */
export async function changedMachine(...names: string[]): Promise<ChangedMachine> {
  const folder = await mkdtemp(join(tmpdir(), 'machine-'));
  const path = join(folder, 'machine.json');
  const machine: { clockMs: number; names: Record<string, string | null> } = { clockMs: 0, names: {} };
  // Whole or not at all: the process may read at any time.
  const write = async () => {
    await writeFile(`${path}.part`, JSON.stringify(machine));
    await rename(`${path}.part`, path);
  };
  const lead: ChangedMachine['lead'] = async (names, to) => {
    for (const name of names) machine.names[name] = { here: HERE, refused: NOBODY, nowhere: null }[to];
    await write();
  };
  await lead(names, 'here');
  return {
    environment: { NODE_OPTIONS: `--import=${pathToFileURL(PRELOAD).href}`, TEST_MACHINE: path },
    lead,
    jump: async (process, clockMs) => {
      machine.clockMs = clockMs;
      await write();
      process.kill('SIGUSR2');
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
