import { type Terminal, UsageError } from './command.ts';

const ENTER = new Set(['\r', '\n', '\u0004']);
const ERASE = new Set(['\u0008', '\u007f']);
const BREAK = '\u0003';

/** Reads a line without showing what is typed; from a pipe it reads the first line. @throws UsageError on Ctrl+C or no input */
export function askSecret(terminal: Terminal, question: string): Promise<string> {
  const { input } = terminal;
  terminal.err(question);
  input.setEncoding('utf8');
  if (input.isTTY) input.setRawMode?.(true);
  return new Promise((resolve, reject) => {
    let text = '';
    const end = (finish: () => void) => {
      input.off('data', read);
      input.off('end', atEnd);
      if (input.isTTY) input.setRawMode?.(false);
      input.pause();
      terminal.err('\n');
      finish();
    };
    const atEnd = () => end(() => (text === '' ? reject(new UsageError('No password was given.')) : resolve(text)));
    const read = (chunk: string) => {
      for (const character of chunk) {
        if (character === BREAK) return end(() => reject(new UsageError('Stopped; nothing was changed.')));
        if (ENTER.has(character))
          return end(() => (text === '' ? reject(new UsageError('No password was given.')) : resolve(text)));
        text = ERASE.has(character) ? text.slice(0, -1) : text + character;
      }
    };
    input.on('data', read);
    input.on('end', atEnd);
    input.resume();
  });
}
