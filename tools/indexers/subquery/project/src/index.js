// It never returns. The node calls it for blocks with transactions only.
exports.handleBlock = () => new Promise(() => {});
