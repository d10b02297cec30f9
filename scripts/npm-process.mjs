import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

const WATCH_MS = 500;
const SHELLS = new Set(['sh', 'dash', 'bash', 'ash', 'zsh', 'busybox', 'cmd.exe']);

/**
 * Calls `ended` when the npm that runs this script is gone: npm passes a signal on to the shell between it and the script at most, and
 * SIGKILL to nobody.
 */
export function npmEnd(ended) {
  if (npm === null) return;
  const watch = setInterval(() => {
    if (isAlive(npm)) return;
    clearInterval(watch);
    ended();
  }, WATCH_MS);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process is alive too.
    return error.code === 'EPERM';
  }
}

/**
 * The process of the npm that runs this script: its parent, or the parent of a shell between both. Null when no npm runs it: a script that was
 * started from a terminal and put into the background must survive its shell.
 */
function npmProcess() {
  if (process.env.npm_lifecycle_event === undefined) return null;
  const parent = process.ppid;
  const facts = factsOf(parent);
  return facts && SHELLS.has(facts.name) && facts.parent > 1 ? facts.parent : parent;
}

/** Name and parent of a process; null where the system does not say. */
function factsOf(pid) {
  try {
    // "12 (name) S 11 …"; a name can contain anything, also parentheses.
    const [, name, parent] = /^\d+ \((.*)\) \S (\d+) /s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    return { name, parent: Number(parent) };
  } catch {
    const line = /^\s*(\d+)\s+(.+?)\s*$/.exec(
      spawnSync('ps', ['-o', 'ppid=,comm=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '',
    );
    return line && { name: basename(line[2]).replace(/^-/, ''), parent: Number(line[1]) };
  }
}

// When the script starts: later the parent may be gone.
const npm = npmProcess();
