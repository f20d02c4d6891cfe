/** Ends messages about a start that failed or a server that does not answer. */
export const doctorAdvice = '"everpost doctor" checks the settings and every server that they name.';
