"""Missing and wrong cells: learn how to fill and repair rows before they are fitted."""
