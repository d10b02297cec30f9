/**
 * Reads the arguments of a script, or ends it: with 0 after its help, with 2 after the sentence of what is wrong with them.
 * @param readOptions throws an Error with that sentence
 */
export function readArguments<Options>(readOptions: (args: readonly string[]) => Options | 'help', help: string): Options {
  try {
    const read = readOptions(process.argv.slice(2));
    if (read !== 'help') return read;
    console.log(help);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${help}`);
    process.exit(2);
  }
  process.exit(0);
}
