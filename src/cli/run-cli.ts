import { parseArgs } from 'node:util';
import { loadEnv } from '../core/env.ts';
import { COMMAND_LINE } from '../core/process-env.ts';
import { answerAsJson, type Command, type CommandCall, type CommandResult, EXIT, type Terminal, UsageError } from './command.ts';
import { runInService } from './command-socket.ts';
import { commands } from './commands.ts';
import { describeFailure } from './describe-failure.ts';

const COMMON_OPTIONS = {
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  verbose: { type: 'boolean' },
} as const;

/**
 * Runs one command. Answers go to standard output, everything else to standard error.
 * @param argv words behind the program's name
 * @returns exit code: 0 = done, 1 = failed or found a problem, 2 = called wrongly
 */
export async function runCli(argv: readonly string[], terminal: Terminal): Promise<number> {
  const command = findCommand(argv);
  if (!command) return explain(argv, terminal);
  const isJson = argv.includes('--json');
  const isVerbose = argv.includes('--verbose');
  try {
    const call = readCall(command, argv, terminal, { isVerbose, isJson });
    if (call === 'help') {
      terminal.out(`${helpOf(command)}\n`);
      return EXIT.ok;
    }
    const { text, data, exitCode } = await perform(command, call);
    if (isJson) terminal.out(`${answerAsJson(data)}\n`);
    else if (text !== null) terminal.out(`${text}\n`);
    return exitCode ?? EXIT.ok;
  } catch (error) {
    const message = describeFailure(error);
    terminal.err(isJson ? `${JSON.stringify({ error: message })}\n` : `${message}\n`);
    if (error instanceof UsageError && !isJson) terminal.err(`\nUsage: ${COMMAND_LINE} ${usageOf(command)}\n`);
    if (isVerbose && error instanceof Error) terminal.err(`\n${error.stack}\n`);
    return error instanceof UsageError ? EXIT.usage : EXIT.failed;
  }
}

/** In the service that runs on the embedded database, else here. */
async function perform(command: Command, given: CommandCall): Promise<CommandResult> {
  const call = command.prepare ? { ...given, options: await command.prepare(given) } : given;
  if (command.runsInService) {
    const { databaseUrl, dataDir } = loadEnv(call.terminal.source);
    const answered = databaseUrl === null ? await runInService(dataDir, command.name, call) : null;
    if (answered !== null) return answered;
  }
  return command.run(call);
}

/** The command whose name the first words are; names of two words have priority over names of one. */
function findCommand(argv: readonly string[]): Command | null {
  const words = argv.filter((word) => !word.startsWith('-'));
  const named = (length: number) => commands.find((command) => command.name === words.slice(0, length).join(' '));
  return named(2) ?? named(1) ?? null;
}

function readCall(
  command: Command,
  argv: readonly string[],
  terminal: Terminal,
  form: Pick<CommandCall, 'isVerbose' | 'isJson'>,
): CommandCall | 'help' {
  let parsed: { values: Record<string, unknown>; positionals: string[] };
  try {
    parsed = parseArgs({
      args: [...argv],
      options: { ...COMMON_OPTIONS, ...command.options },
      allowPositionals: true,
      strict: true,
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message.split('. To specify', 1)[0]! : String(error));
  }
  if (parsed.values.help) return 'help';
  const words = parsed.positionals.slice(command.name.split(' ').length);
  const [least, most] = command.words;
  if (words.length < least) throw new UsageError(`"${command.name}" needs ${command.parameters.split(' [', 1)[0]}.`);
  if (words.length > most) throw new UsageError(`"${command.name}" does not know what to do with "${words[most]}".`);
  return {
    words,
    options: parsed.values as CommandCall['options'],
    terminal,
    ...form,
    progress: (text) => terminal.err(`${text}\n`),
  };
}

const usageOf = (command: Command) => `${command.name} ${command.parameters}`.trim();

function helpOf(command: Command): string {
  const lines = [`${COMMAND_LINE} ${usageOf(command)}`, '', command.summary];
  if (command.details) lines.push('', command.details);
  return lines.join('\n');
}

function explain(argv: readonly string[], terminal: Terminal): number {
  const unknown = argv.find((word) => !word.startsWith('-'));
  const width = Math.max(...commands.map((command) => usageOf(command).length));
  const lines = [
    `${COMMAND_LINE} COMMAND`,
    '',
    ...commands.map((command) => `  ${usageOf(command).padEnd(width)}  ${command.summary}`),
    '',
    'Options of every command: --json (answer for programs), --verbose (what the service logs), --help.',
    'Exit code: 0 = done, 1 = failed or found something wrong, 2 = called wrongly.',
  ];
  const text = `${lines.join('\n')}\n`;
  if (unknown === undefined || unknown === 'help') {
    terminal.out(text);
    return EXIT.ok;
  }
  const group = commands.some((command) => command.name.startsWith(`${unknown} `));
  terminal.err(
    group
      ? `"${unknown}" is the beginning of several commands; say which.\n\n${text}`
      : `There is no command "${unknown}".\n\n${text}`,
  );
  return EXIT.usage;
}
