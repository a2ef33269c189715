// Trunk's start script calls this while the program comes: its bytes move the bar of the static shell.
export default () => {
  const bar = document.querySelector("#loading progress");
  return {
    onProgress({ current, total }) {
      if (bar && total) {
        bar.max = total;
        bar.value = current;
      }
    },
    onFailure(reason) {
      // Trunk keeps it to itself; the page's first script listens for what nobody has caught.
      Promise.reject(reason);
    },
  };
};
