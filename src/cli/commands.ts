import { createAdminCommand } from './admin-command.ts';
import { listCasesCommand, resolveCaseCommand, showCaseCommand } from './case-commands.ts';
import type { Command } from './command.ts';
import { doctorCommand } from './doctor/doctor-command.ts';
import { ledgerCheckCommand } from './ledger-command.ts';
import { migrateCommand } from './migrate-command.ts';
import { moveCommand } from './move/move-command.ts';
import { createTokenCommand, listTokensCommand, revokeTokenCommand } from './token-commands.ts';

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  doctorCommand,
  createAdminCommand,
  createTokenCommand,
  listTokensCommand,
  revokeTokenCommand,
  listCasesCommand,
  showCaseCommand,
  resolveCaseCommand,
  migrateCommand,
  ledgerCheckCommand,
  moveCommand,
];
