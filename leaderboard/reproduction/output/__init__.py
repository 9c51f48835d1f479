"""What commands print, as text, CSV and LaTeX: tables for papers, with a paper's own figures beside
ours."""
