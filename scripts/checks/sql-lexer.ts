const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

/** Comments as blanks, so that offsets stay. */
export function blankComments(text: string): string {
  return text.replace(/'(?:[^']|'')*'|--[^\n]*|\/\*[\s\S]*?\*\//g, (part) => (part.startsWith("'") ? part : blank(part)));
}

/** The contents of text literals as blanks, with their quotes, so that offsets stay. */
export function blankLiterals(text: string): string {
  return text.replace(/'((?:[^']|'')*)'/g, (_, inside: string) => `'${blank(inside)}'`);
}
