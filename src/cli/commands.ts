import { createAdminCommand } from './admin-command.ts';
import { createBackupCommand, drillCommand, listBackupsCommand, restoreBackupCommand } from './backup-commands.ts';
import { listCasesCommand, resolveCaseCommand, showCaseCommand } from './case-commands.ts';
import { checkArchiveCommand } from './check-archive-command.ts';
import type { Command } from './command.ts';
import { doctorCommand } from './doctor/doctor-command.ts';
import { refundGiftCommand, resendGiftCommand } from './gift-commands.ts';
import { ledgerCheckCommand } from './ledger-command.ts';
import { ledgerReportCommand } from './ledger-report-command.ts';
import { migrateCommand } from './migrate-command.ts';
import { moveCommand } from './move/move-command.ts';
import { reconcileCommand } from './reconcile-command.ts';
import { refundCommand } from './refund-command.ts';
import { reportCommand } from './report-command.ts';
import { createTokenCommand, listTokensCommand, revokeTokenCommand } from './token-commands.ts';
import { exportWithdrawalsCommand, listDebtsCommand } from './withdrawals-command.ts';

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
  ledgerReportCommand,
  refundCommand,
  reconcileCommand,
  refundGiftCommand,
  resendGiftCommand,
  exportWithdrawalsCommand,
  listDebtsCommand,
  reportCommand,
  createBackupCommand,
  listBackupsCommand,
  checkArchiveCommand,
  restoreBackupCommand,
  drillCommand,
  moveCommand,
];
