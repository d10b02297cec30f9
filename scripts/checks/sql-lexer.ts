const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

/** Comments as blanks, so that offsets stay. */
export function blankComments(text: string): string {
  return text.replace(/'(?:[^']|'')*'|--[^\n]*|\/\*[\s\S]*?\*\//g, (part) => (part.startsWith("'") ? part : blank(part)));
}

/** The insides of text literals as blanks, their quotes left, so that offsets stay. */
export function blankLiterals(text: string): string {
  return text.replace(/'((?:[^']|'')*)'/g, (_, inside: string) => `'${blank(inside)}'`);
}
