import { GatehouseProblem } from '../../packages/client/api/problem.js';
import type { CliError } from './cli-error.js';

/** For `catch`: throws another error in place of a refusal with one of the codes. */
export function replacing(codes: readonly string[], by: (refused: GatehouseProblem) => CliError) {
  return (error: unknown): never => {
    const isReplaced = error instanceof GatehouseProblem && codes.includes(error.code);
    throw isReplaced ? by(error) : error;
  };
}
