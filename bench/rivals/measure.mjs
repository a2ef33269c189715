// What both programs are measured by: CPU time of the whole process, with garbage collector and compiler, and the most
// memory that it has held.
export function cpuSeconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** In bytes. */
export function peak() {
  return process.resourceUsage().maxRSS * 1024;
}

export function report(figures) {
  console.log(JSON.stringify(figures));
}
